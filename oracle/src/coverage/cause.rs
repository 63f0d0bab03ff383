//! The causes of lost coverage.

/// Why a function is not in an SFrame section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Cause {
    /// A linker created the code: its stubs have CFI, but no SFrame.
    Plt,
    /// The range has no bytes.
    ZeroSize,
    /// The return-address column is not the ABI's.
    ReturnColumn,
    /// The CIE has no initial CFA rule.
    NoInitialRules,
    /// `negate_ra_state_with_pc`.
    RaSignWithPc,
    /// A CFA based on a register other than SP and FP.
    CfaRegister,
    /// A CFA that is an expression, or is loaded from memory.
    CfaExpression,
    /// RA by an expression or relative to a register.
    RaExpression,
    /// FP by an expression or relative to a register.
    FpExpression,
    /// RA or FP saved in another register.
    RegisterSave,
    /// SP saved in another register.
    SpSave,
    /// `val_offset` of SP, FP or RA.
    ValueOffset,
    /// FP or SP is undefined.
    UndefinedFp,
    /// FP is saved on the stack and RA is not.
    FpWithoutRa,
    /// `GNU_args_size`; in version 3 only with a CFA that is not based on FP, or a size that takes two bytes.
    ArgsSize,
    /// `GNU_window_save`, `val_expression` of any register, or `expression` of SP; before version 3, of any register.
    UnsupportedEscape,
    /// `remember_state` before there is another row.
    RememberFirst,
    /// An offset that does not fit in a data word of at most 32 bits.
    OffsetRange,
    /// More rows than the version can count.
    RowLimit,
    /// The CFI itself cannot be read.
    Unreadable,
    /// A CFA expression whose value SFrame can express, in a form that assemblers do not accept.
    CfaExpressionForm,
    /// A register's rule is an expression other than a register plus a one-byte offset, even if SFrame can express its
    /// value, or does not have the register.
    ExpressionForm,
    /// A register that SFrame does not have, saved in another one.
    OtherRegisterSave,
    /// The source has `.cfi_label`: there is a symbol among the function's instructions.
    Label,
    /// An instruction that only `.cfi_escape` makes, in a form that SFrame could express: the assembler has refused the escape
    /// for something that it has beside.
    Escape,
    /// BOLT has written the function anew after the section was made.
    Rewritten,
    /// The section has an entry for the function, which no search finds.
    Hidden,
    /// Nothing in the CFI keeps the function out: the loss is unexplained.
    Unexplained,
}

/// Every cause and its name, in the order in which they are looked for.
const NAMES: [(Cause, &str); 28] = [
    (Cause::Plt, "plt"),
    (Cause::ZeroSize, "zero-size"),
    (Cause::ReturnColumn, "return-column"),
    (Cause::NoInitialRules, "no-initial-rules"),
    (Cause::RaSignWithPc, "ra-sign-with-pc"),
    (Cause::CfaRegister, "cfa-register"),
    (Cause::CfaExpression, "cfa-expression"),
    (Cause::RaExpression, "ra-expression"),
    (Cause::FpExpression, "fp-expression"),
    (Cause::RegisterSave, "register-save"),
    (Cause::SpSave, "sp-save"),
    (Cause::ValueOffset, "value-offset"),
    (Cause::UndefinedFp, "undefined-fp"),
    (Cause::FpWithoutRa, "fp-without-ra"),
    (Cause::ArgsSize, "args-size"),
    (Cause::UnsupportedEscape, "unsupported-escape"),
    (Cause::RememberFirst, "remember-first"),
    (Cause::OffsetRange, "offset-range"),
    (Cause::RowLimit, "row-limit"),
    (Cause::Unreadable, "unreadable"),
    (Cause::CfaExpressionForm, "cfa-expression-form"),
    (Cause::ExpressionForm, "expression-form"),
    (Cause::OtherRegisterSave, "other-register-save"),
    (Cause::Label, "label"),
    (Cause::Escape, "escape"),
    (Cause::Rewritten, "rewritten"),
    (Cause::Hidden, "hidden"),
    (Cause::Unexplained, "none"),
];

impl Cause {
    /// Every cause, in the order in which they are looked for.
    pub const ALL: [Cause; NAMES.len()] = {
        let mut all = [Cause::Unexplained; NAMES.len()];
        let (mut left, mut names): (&mut [Cause], &[(Cause, &str)]) = (&mut all, &NAMES);
        while let ([first, rest @ ..], [(cause, _), others @ ..]) = (left, names) {
            *first = *cause;
            (left, names) = (rest, others);
        }
        all
    };

    /// The cause's name in reports.
    ///
    /// ```
    /// assert_eq!(sframe_oracle::coverage::Cause::FpWithoutRa.name(), "fp-without-ra");
    /// ```
    #[must_use]
    pub fn name(self) -> &'static str {
        let known = NAMES.iter().find(|(cause, _)| *cause == self);
        known.map_or("none", |(_, name)| name)
    }
}
