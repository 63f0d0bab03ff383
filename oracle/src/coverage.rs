//! Why SFrame does not describe a function: from the function's own CFI, never from the absence.
//!
//! SFrame has no word for much of what CFI can say, and an assembler that meets it writes no entry
//! for the whole function. [`examine`] looks for the first such thing. A function without any is
//! lost for no reason that its CFI gives ([`Cause::None`]), which is a finding.
//!
//! One reason can be told from no linked file: linkers drop the sections of inputs that have
//! another version than the first one, and nothing is left of them. Such a function is lost
//! without a cause, and the finding's page names this one among those to look for.

use sframe_validator::elf::{Elf, ElfKind};
use sframe_validator::unwind::{Cfa, Frame, Recovery, Register};
use sframe_validator::{Abi, Version};

use crate::cfi::{CfiError, Fde, RowContext, Rows, Traces};

/// The most rows that a version 3 function can have.
const MAX_ROWS: usize = 0xffff;

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
    /// More rows than the version can count.
    RowLimit,
    /// The CFI itself cannot be read.
    Unreadable,
    /// Nothing unusual: the loss is unexplained.
    None,
}

impl Cause {
    /// Every cause, in the order they are looked for.
    pub const ALL: [Cause; 18] = [
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
        Cause::RowLimit,
        Cause::Unreadable,
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
            Cause::RowLimit => "row-limit",
            Cause::Unreadable => "unreadable",
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
    let Cfa::RegisterOffset { register, .. } = frame.cfa else { return false };
    let saved = |rule| matches!(rule, Recovery::AtCfa(_));
    let fp = frame.fp == Recovery::Unchanged || saved(frame.fp);
    fp && saved(frame.ra) && (register == sp || register == base)
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
