//! Why SFrame does not describe a function: from the function's own CFI, never from the absence.
//!
//! SFrame has no word for much of what CFI can say, and an assembler that meets it writes no entry
//! for the whole function. [`examine`] looks for the first such thing. A function without any is
//! lost for no reason that its CFI gives ([`Cause::None`]), which is a finding.
//!
//! Some reasons leave no trace in a function's CFI, so that its loss has no cause here, and the
//! finding's page names what to look for:
//!
//! * Linkers drop the sections of inputs that have another version than the first one.
//! * `.cfi_label` writes no instruction. Observed: GNU as 2.44 and 2.47.50 drop the function, and say
//!   `CFI insn CFI_label (0x106)`.
//! * `.cfi_escape` of an instruction that has a directive writes what the directive writes. Observed:
//!   GNU as 2.47.50 says `.cfi_escape with op (0xe)` of `.cfi_escape 0x0e, 16`.

use sframe_validator::elf::{Elf, ElfKind};
use sframe_validator::section::{S390X_CFA_ADJUSTMENT, S390X_CFA_FACTOR};
use sframe_validator::unwind::{Cfa, Frame, Recovery, Register};
use sframe_validator::{Abi, Version};

use crate::cfi::{CfiError, Fde, Instruction, RowContext, Rows, Traces};

/// The most rows that a version 3 function can have.
const MAX_ROWS: usize = 0xffff;

/// The most initial instructions of a CIE that are looked at for one of its functions: producers
/// write some five, and a long CIE that many functions share must not multiply the work.
const MAX_INITIAL: usize = 64;

/// What in a function's CFI keeps it out of an SFrame section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Cause {
    /// A linker made the code: its stubs have CFI, but no producer's SFrame here.
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
    /// `val_offset` of SP, FP or RA.
    ValueOffset,
    /// FP or SP is undefined.
    UndefinedFp,
    /// FP is saved on the stack and RA is not.
    FpWithoutRa,
    /// `GNU_args_size` where the CFA counts from SP, `GNU_window_save`, `val_expression` of any
    /// register, or `expression` of SP; before version 3 of any register.
    UnsupportedEscape,
    /// `remember_state` before there is another row.
    RememberFirst,
    /// An offset that a data word, of 32 bits at most, cannot hold.
    OffsetRange,
    /// More rows than the version can count.
    RowLimit,
    /// The CFI itself cannot be read.
    Unreadable,
    /// A CFA that is an expression whose value SFrame has a form for, in words that assemblers do
    /// not take for it.
    CfaExpressionForm,
    /// An expression of a register other than a register with an offset of one byte, also where
    /// SFrame has a form for its value, or does not have the register.
    ExpressionForm,
    /// A register that SFrame does not have, saved in another one.
    OtherRegisterSave,
    /// Nothing unusual: the loss is unexplained.
    None,
}

impl Cause {
    /// Every cause, in the order they are looked for.
    pub const ALL: [Cause; 22] = [
        Cause::Plt,
        Cause::ZeroSize,
        Cause::ReturnColumn,
        Cause::NoInitialRules,
        Cause::RaSignWithPc,
        Cause::CfaRegister,
        Cause::CfaExpression,
        Cause::RaExpression,
        Cause::FpExpression,
        Cause::RegisterSave,
        Cause::ValueOffset,
        Cause::UndefinedFp,
        Cause::FpWithoutRa,
        Cause::UnsupportedEscape,
        Cause::RememberFirst,
        Cause::OffsetRange,
        Cause::RowLimit,
        Cause::Unreadable,
        Cause::CfaExpressionForm,
        Cause::ExpressionForm,
        Cause::OtherRegisterSave,
        Cause::None,
    ];

    /// The cause's name in reports.
    ///
    /// ```
    /// assert_eq!(sframe_oracle::coverage::Cause::FpWithoutRa.name(), "fp-without-ra");
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Cause::Plt => "plt",
            Cause::ZeroSize => "zero-size",
            Cause::ReturnColumn => "return-column",
            Cause::NoInitialRules => "no-initial-rules",
            Cause::RaSignWithPc => "ra-sign-with-pc",
            Cause::CfaRegister => "cfa-register",
            Cause::CfaExpression => "cfa-expression",
            Cause::RaExpression => "ra-expression",
            Cause::FpExpression => "fp-expression",
            Cause::RegisterSave => "register-save",
            Cause::ValueOffset => "value-offset",
            Cause::UndefinedFp => "undefined-fp",
            Cause::FpWithoutRa => "fp-without-ra",
            Cause::UnsupportedEscape => "unsupported-escape",
            Cause::RememberFirst => "remember-first",
            Cause::OffsetRange => "offset-range",
            Cause::RowLimit => "row-limit",
            Cause::Unreadable => "unreadable",
            Cause::CfaExpressionForm => "cfa-expression-form",
            Cause::ExpressionForm => "expression-form",
            Cause::OtherRegisterSave => "other-register-save",
            Cause::None => "none",
        }
    }
}

/// Where a linked file's stub sections are.
#[derive(Clone, Debug, Default)]
pub struct Stubs {
    /// Ordered, each with the furthest end of all up to it.
    ranges: Vec<(u64, u64)>,
}

impl Stubs {
    /// The stub sections of a file; none in a relocatable object.
    #[must_use]
    pub fn of(elf: &Elf<'_>) -> Stubs {
        let linked = elf.kind() != ElfKind::Relocatable;
        let stubs = elf.code_sections().filter(|section| linked && section.is_stubs());
        let mut ranges: Vec<_> =
            stubs.map(|s| (s.address, s.address.saturating_add(s.size))).collect();
        ranges.sort_unstable();
        let mut furthest = 0;
        for range in &mut ranges {
            furthest = range.1.max(furthest);
            range.1 = furthest;
        }
        Stubs { ranges }
    }

    fn contains(&self, address: u64) -> bool {
        let after = self.ranges.partition_point(|range| range.0 <= address);
        let last = after.checked_sub(1).and_then(|index| self.ranges.get(index));
        last.is_some_and(|range| address < range.1)
    }
}

/// What a function's instructions tell besides its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Examined {
    /// Why an SFrame section has nothing about the function: the first one of [`Cause::ALL`].
    pub cause: Cause,
    /// What ends its rows too early.
    pub error: Option<CfiError>,
}

/// Looks why an SFrame section of `version` has nothing about `function`, in one pass over its
/// instructions.
#[must_use]
pub fn examine(
    stubs: &Stubs,
    function: &Fde<'_>,
    version: Version,
    context: &mut RowContext,
) -> Examined {
    examine_rows(stubs, function, version, &mut function.rows(context))
}

/// As [`examine`], with the function's rows, of which none has been read.
pub(crate) fn examine_rows<'c>(
    stubs: &Stubs,
    function: &Fde<'c>,
    version: Version,
    rows: &mut Rows<'c, '_>,
) -> Examined {
    let abi = function.cfi().abi();
    let (mut found, mut error) = (Cause::None, None);
    if !is_ordinary(rows, version, abi) {
        rows.follow(function);
        (found, error) = of_rows(rows, version, abi);
    }
    if function.size() == 0 {
        found = found.min(Cause::ZeroSize);
    }
    if function.cie().return_address != abi.ra() {
        found = found.min(Cause::ReturnColumn);
    }
    if stubs.contains(function.start().address) {
        found = Cause::Plt;
    }
    if found == Cause::None {
        found = of_instructions(function, version, rows.traces());
    }
    Examined { cause: found, error }
}

/// Whether nothing in the instructions keeps the function out: so it is with nearly all. Where the
/// answer is no, the rows have to be read to know.
fn is_ordinary(rows: &mut Rows<'_, '_>, version: Version, abi: Abi) -> bool {
    let bases = [abi.sp(), abi.fp()];
    rows.all_frames(MAX_ROWS, |frame| is_usual(frame, bases))
        && of_traces(rows.traces(), version) == Cause::None
}

/// What keeps the function out by its rows, and what ends them too early.
fn of_rows(rows: &mut Rows<'_, '_>, version: Version, abi: Abi) -> (Cause, Option<CfiError>) {
    let mut found = Cause::None;
    let mut count = 0;
    let error = loop {
        match rows.next_row() {
            Ok(Some(row)) => {
                count += 1;
                found = found.min(of_frame(&row.frame, version, abi));
            }
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    found = found.min(of_traces(rows.traces(), version));
    if error.is_some() {
        found = found.min(Cause::Unreadable);
    }
    if version == Version::V3 && count > MAX_ROWS {
        found = found.min(Cause::RowLimit);
    }
    (found, error)
}

/// Whether a frame says what any version can, its CFA based on SP or FP: nearly all do.
#[inline]
fn is_usual(frame: &Frame, [sp, base]: [Register; 2]) -> bool {
    let Cfa::RegisterOffset { register, offset } = frame.cfa else { return false };
    let saved = |rule| matches!(rule, Recovery::AtCfa(offset) if is_word(offset));
    let fp = frame.fp == Recovery::Unchanged || saved(frame.fp);
    fp && saved(frame.ra) && (register == sp || register == base) && is_word(offset)
}

/// Whether a data word, of 32 bits at most, can hold an offset.
fn is_word(offset: i64) -> bool {
    i32::try_from(offset).is_ok()
}

/// Whether data words can hold all offsets of a frame.
// observed: GNU as 2.47.50, ".cfi_def_cfa_offset with unsupported offset value"; of a slot, and in
// older versions, it gives up the whole file.
fn has_words(frame: &Frame, abi: Abi) -> bool {
    let rule = |rule| match rule {
        Recovery::AtCfa(offset)
        | Recovery::CfaOffset(offset)
        | Recovery::AtRegister { offset, .. }
        | Recovery::RegisterOffset { offset, .. } => is_word(offset),
        _ => true,
    };
    let cfa = match frame.cfa {
        Cfa::RegisterOffset { offset, .. } | Cfa::Dereference { offset, .. } => match abi {
            Abi::S390x => is_word(offset.saturating_sub(S390X_CFA_ADJUSTMENT) / S390X_CFA_FACTOR),
            Abi::Amd64 | Abi::Aarch64Big | Abi::Aarch64Little => is_word(offset),
        },
        Cfa::Expression(_) | Cfa::Undefined => true,
    };
    cfa && rule(frame.ra) && rule(frame.fp)
}

/// What a frame says that the version cannot.
fn of_frame(frame: &Frame, version: Version, abi: Abi) -> Cause {
    // Flexible rows carry more, where producers write them.
    let flexible = version == Version::V3 && !abi.is_aarch64();
    let cfa = match frame.cfa {
        Cfa::RegisterOffset { register, .. } => {
            let known = register == abi.sp() || register == abi.fp();
            if known || flexible { Cause::None } else { Cause::CfaRegister }
        }
        // observed: GNU as 2.47.50 writes a loaded CFA based on FP, and none based on SP.
        Cfa::Dereference { register, .. } if flexible && register == abi.fp() => Cause::None,
        Cfa::Dereference { .. } | Cfa::Expression(_) => Cause::CfaExpression,
        Cfa::Undefined => Cause::NoInitialRules,
    };
    let rule = |rule, expression| match rule {
        Recovery::Unchanged | Recovery::AtCfa(_) => Cause::None,
        Recovery::CfaOffset(_) => Cause::ValueOffset,
        Recovery::RegisterOffset { offset: 0, .. } if !flexible => Cause::RegisterSave,
        Recovery::RegisterOffset { .. } | Recovery::AtRegister { .. } if flexible => Cause::None,
        Recovery::Undefined => Cause::None,
        Recovery::RegisterOffset { .. }
        | Recovery::AtRegister { .. }
        | Recovery::AtExpression(_)
        | Recovery::Expression(_) => expression,
    };
    let mut found = cfa.min(rule(frame.ra, Cause::RaExpression));
    found = found.min(rule(frame.fp, Cause::FpExpression));
    if frame.fp == Recovery::Undefined {
        found = found.min(Cause::UndefinedFp);
    }
    // observed: GNU as 2.44 and 2.47.50, "FP without RA on stack"; 2.40 writes such functions.
    let saved = |rule| matches!(rule, Recovery::AtCfa(_));
    if abi.is_aarch64() && version != Version::V1 && saved(frame.fp) && !saved(frame.ra) {
        found = found.min(Cause::FpWithoutRa);
    }
    if !has_words(frame, abi) {
        found = found.min(Cause::OffsetRange);
    }
    found
}

/// What instructions say that leaves no trace in the rows.
fn of_traces(traces: Traces, version: Version) -> Cause {
    if traces == Traces::default() {
        return Cause::None;
    }
    let table = [
        (Traces::SIGN_WITH_PC, Cause::RaSignWithPc),
        (Traces::SAVED_SP, Cause::RegisterSave),
        (Traces::VALUE_OFFSET, Cause::ValueOffset),
        (Traces::UNDEFINED_SP, Cause::UndefinedFp),
        (Traces::ESCAPE, Cause::UnsupportedEscape),
    ];
    // observed: what takes a `.cfi_escape` to say, GNU as 2.40 and 2.44 refuse altogether.
    let escaped = version < Version::V3 && traces.contains(Traces::EXPRESSION);
    let escaped = if escaped { Cause::UnsupportedEscape } else { Cause::None };
    let seen = table.iter().filter(|(trace, _)| traces.contains(*trace)).map(|(_, cause)| *cause);
    // observed: GNU as 2.40 and 2.44 before the first advance, LLVM 23 before the first other row.
    let remembered = match version {
        Version::V1 => traces.contains(Traces::REMEMBER_AT_START),
        Version::V2 => traces.contains(Traces::REMEMBER_FIRST),
        Version::V3 => false,
    };
    let first = if remembered { Cause::RememberFirst } else { Cause::None };
    seen.min().unwrap_or(Cause::None).min(escaped).min(first)
}

/// What an instruction says in a form that assemblers do not take, though rows could hold its
/// meaning, or need not. Looked for where nothing else is found.
fn of_instructions(function: &Fde<'_>, version: Version, traces: Traces) -> Cause {
    let expressions = version == Version::V3 && traces.contains(Traces::EXPRESSION);
    if !expressions && version != Version::V1 {
        return Cause::None;
    }
    let cfi = function.cfi();
    let initial = cfi.initial_instructions(function.cie()).take(MAX_INITIAL);
    let instructions = initial.chain(function.instructions()).filter_map(Result::ok);
    let causes = instructions.map(|instruction| match instruction {
        // observed: GNU as 2.40 drops a function with any `.cfi_register`, and says nothing.
        Instruction::Register(..) if version == Version::V1 => Cause::OtherRegisterSave,
        Instruction::DefCfaExpression(expression) if expressions => {
            of_cfa_expression(cfi.expression(expression), cfi.abi())
        }
        Instruction::Expression(register, expression) if expressions => {
            of_expression(register, cfi.expression(expression), cfi.abi())
        }
        _ => Cause::None,
    });
    causes.min().unwrap_or(Cause::None)
}

/// Whether operations are a register with an offset of one byte (`DW_OP_breg0` to `DW_OP_breg31`).
const fn is_short(operations: &[u8]) -> bool {
    matches!(operations, [0x70..=0x8f, 0..=0x7f])
}

// observed: GNU as 2.47.50 takes `.cfi_escape 0x0f, 3, 0x76, OFFSET, 0x06`, what RBP points near, for
// AMD64 alone; of all others it says ".cfi_escape with op (0xf)".
fn of_cfa_expression(operations: &[u8], abi: Abi) -> Cause {
    let fp = u8::try_from(abi.fp().0).map_or(0, |register| 0x70_u8.saturating_add(register));
    match operations {
        [base, 0..=0x7f, 0x06] if abi == Abi::Amd64 && *base == fp => Cause::None,
        _ => Cause::CfaExpressionForm,
    }
}

// observed: GNU as 2.47.50 takes `.cfi_escape 0x10, REGISTER, 2, 0x70 + BASE, OFFSET`; of others it
// says ".cfi_escape with op (0x10)", and where RA has no fixed slot ".cfi_escape DW_CFA_expression
// with RA reg 14".
fn of_expression(register: Register, operations: &[u8], abi: Abi) -> Cause {
    if register == abi.ra() && abi.fixed_ra_offset() == 0 {
        Cause::RaExpression
    } else if is_short(operations) {
        Cause::None
    } else {
        Cause::ExpressionForm
    }
}
