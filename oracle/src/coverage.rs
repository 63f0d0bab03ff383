//! Determines why SFrame does not describe a function, from the function's own CFI.
//!
//! SFrame cannot express much of what CFI can, and an assembler that encounters such CFI writes no entry for the whole
//! function. [`examine`] looks for the first such thing. If there is none, the CFI gives no reason for the loss
//! ([`Cause::Unexplained`]), which is a finding.
//!
//! Some reasons leave no trace in a function's CFI. Then the loss has no known cause, and the finding's page lists
//! possible ones:
//!
//! * Linkers drop the sections of inputs with another version than the first one.
//! * `.cfi_label` writes no instruction, only a symbol in the section of CFI, which a stripped file has lost. Observed: GNU as
//!   2.44 and 2.47.50 drop the function, and print `CFI insn CFI_label (0x106)`.
//! * `.cfi_escape` with an instruction that has a directive writes the same bytes as the directive. Observed: GNU as
//!   2.47.50 prints `.cfi_escape with op (0xe)` for `.cfi_escape 0x0e, 16`.

mod cause;
mod page;
mod source;

use sframe_validator::elf::{Elf, ElfKind};
use sframe_validator::section::{S390X_CFA_ADJUSTMENT, S390X_CFA_FACTOR};
use sframe_validator::unwind::{Cfa, Frame, Recovery, Register};
use sframe_validator::{Abi, Version};

use crate::cfi::{CfiError, Fde, Instruction, RowContext, Rows, Traces};
pub use cause::Cause;
pub use page::CausePage;
pub(crate) use source::{Labels, of_source};

/// The maximum number of rows of a version 3 function.
const MAX_ROWS: usize = 0xffff;

/// The maximum number of initial instructions of a CIE that are examined for one of its functions: producers write
/// about five, and a long CIE that many functions share must not multiply the work.
const MAX_INITIAL: usize = 64;

/// The stub sections of a linked file.
#[derive(Clone, Debug, Default)]
pub struct Stubs {
    /// The ranges in ascending order, each with the furthest end of all ranges up to it.
    ranges: Vec<(u64, u64)>,
}

impl Stubs {
    /// The stub sections of a file; empty for a relocatable object.
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

/// The result of examining a function's CFI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Examined {
    /// The first cause in [`Cause::ALL`] that keeps the function out of an SFrame section.
    pub cause: Option<Cause>,
    /// The defect that ends its rows too early.
    pub error: Option<CfiError>,
}

/// Determines what keeps `function` out of an SFrame section of `version`, in one pass over its instructions.
#[must_use]
pub fn examine(
    stubs: &Stubs,
    function: &Fde<'_>,
    version: Version,
    context: &mut RowContext,
) -> Examined {
    examine_rows(stubs, function, version, &mut function.rows(context))
}

/// Like [`examine`], with the function's rows, none of which may have been read.
pub(crate) fn examine_rows<'c>(
    stubs: &Stubs,
    function: &Fde<'c>,
    version: Version,
    rows: &mut Rows<'c, '_>,
) -> Examined {
    let abi = function.cfi().abi();
    let (mut found, mut error) = (None, None);
    if !is_ordinary(rows, version, abi) {
        rows.follow(function);
        (found, error) = of_rows(rows, version, abi);
    }
    if function.size() == 0 {
        found = first(found, Some(Cause::ZeroSize));
    }
    if function.cie().return_address != abi.ra() {
        found = first(found, Some(Cause::ReturnColumn));
    }
    if stubs.contains(function.start().address) {
        found = Some(Cause::Plt);
    }
    let cause = found.or_else(|| of_instructions(function, version, rows.traces()));
    Examined { cause, error }
}

/// The one of two causes that comes first in [`Cause::ALL`].
fn first(a: Option<Cause>, b: Option<Cause>) -> Option<Cause> {
    [a, b].into_iter().flatten().min()
}

/// Whether nothing in the instructions keeps the function out, as in nearly all functions. If the answer is no, the
/// rows have to be read to find out.
fn is_ordinary(rows: &mut Rows<'_, '_>, version: Version, abi: Abi) -> bool {
    let bases = [abi.sp(), abi.fp()];
    rows.all_frames(MAX_ROWS, |frame| is_usual(frame, bases))
        && of_traces(rows.traces(), version, abi).is_none()
}

/// The cause in the rows that keeps the function out, and the defect that ends them too early.
fn of_rows(
    rows: &mut Rows<'_, '_>,
    version: Version,
    abi: Abi,
) -> (Option<Cause>, Option<CfiError>) {
    let mut found = None;
    let mut count = 0;
    let error = loop {
        match rows.next_row() {
            Ok(Some(row)) => {
                count += 1;
                found = first(found, of_frame(&row.frame, version, abi));
            }
            Ok(None) => break None,
            Err(error) => break Some(error),
        }
    };
    found = first(found, of_traces(rows.traces(), version, abi));
    if error.is_some() {
        found = first(found, Some(Cause::Unreadable));
    }
    if version == Version::V3 && count > MAX_ROWS {
        found = first(found, Some(Cause::RowLimit));
    }
    (found, error)
}

/// Whether any version can express a frame, with its CFA based on SP or FP, as nearly all are.
#[inline]
fn is_usual(frame: &Frame, [sp, base]: [Register; 2]) -> bool {
    let Cfa::RegisterOffset { register, offset } = frame.cfa else { return false };
    let saved = |rule| matches!(rule, Recovery::AtCfa(offset) if is_word(offset));
    let fp = frame.fp == Recovery::Unchanged || saved(frame.fp);
    fp && saved(frame.ra) && (register == sp || register == base) && is_word(offset)
}

/// Whether an offset fits in a data word of at most 32 bits.
fn is_word(offset: i64) -> bool {
    i32::try_from(offset).is_ok()
}

/// Whether all offsets of a frame fit in data words.
// observed: GNU as 2.47.50, ".cfi_def_cfa_offset with unsupported offset value". For the offset of a slot, and in older
// versions, it gives up on the whole file.
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
        Cfa::DereferencePlus { .. } | Cfa::Expression(_) | Cfa::Undefined => true,
    };
    cfa && rule(frame.ra) && rule(frame.fp)
}

/// The part of a frame that the version cannot express.
fn of_frame(frame: &Frame, version: Version, abi: Abi) -> Option<Cause> {
    // Flexible rows can express more, if producers write them.
    let flexible = version == Version::V3 && !abi.is_aarch64();
    let cfa = match frame.cfa {
        Cfa::RegisterOffset { register, .. } => {
            let known = register == abi.sp() || register == abi.fp();
            if known || flexible { None } else { Some(Cause::CfaRegister) }
        }
        // observed: GNU as 2.47.50 writes a loaded CFA based on FP, and none based on SP.
        Cfa::Dereference { register, .. } if flexible && register == abi.fp() => None,
        Cfa::Dereference { .. } | Cfa::DereferencePlus { .. } | Cfa::Expression(_) => {
            Some(Cause::CfaExpression)
        }
        Cfa::Undefined => Some(Cause::NoInitialRules),
    };
    let rule = |rule, expression| match rule {
        Recovery::Unchanged | Recovery::AtCfa(_) => None,
        Recovery::CfaOffset(_) => Some(Cause::ValueOffset),
        Recovery::RegisterOffset { offset: 0, .. } if !flexible => Some(Cause::RegisterSave),
        Recovery::RegisterOffset { .. } | Recovery::AtRegister { .. } if flexible => None,
        Recovery::Undefined => None,
        Recovery::RegisterOffset { .. }
        | Recovery::AtRegister { .. }
        | Recovery::AtExpression(_)
        | Recovery::Expression(_) => Some(expression),
    };
    let mut found = first(cfa, rule(frame.ra, Cause::RaExpression));
    found = first(found, rule(frame.fp, Cause::FpExpression));
    if frame.fp == Recovery::Undefined {
        found = first(found, Some(Cause::UndefinedFp));
    }
    // observed: GNU as 2.44 and 2.47.50, "FP without RA on stack"; 2.40 writes such functions.
    let saved = |rule| matches!(rule, Recovery::AtCfa(_));
    if abi.is_aarch64() && version != Version::V1 && saved(frame.fp) && !saved(frame.ra) {
        found = first(found, Some(Cause::FpWithoutRa));
    }
    if !has_words(frame, abi) {
        found = first(found, Some(Cause::OffsetRange));
    }
    found
}

/// The cause in instructions that leave no trace in the rows.
fn of_traces(traces: Traces, version: Version, abi: Abi) -> Option<Cause> {
    if traces == Traces::default() {
        return None;
    }
    let table = [
        (Traces::SIGN_WITH_PC, Cause::RaSignWithPc),
        (Traces::VALUE_OFFSET, Cause::ValueOffset),
        (Traces::UNDEFINED_SP, Cause::UndefinedFp),
        (Traces::ESCAPE, Cause::UnsupportedEscape),
    ];
    // observed: GNU as 2.40 and 2.44 refuse everything that needs a `.cfi_escape`.
    let escaped = version < Version::V3 && traces.contains(Traces::EXPRESSION);
    let escaped = escaped.then_some(Cause::UnsupportedEscape);
    // observed: GNU as 2.47.50 for AMD64 and AArch64, "SP register 7 in .cfi_register". 2.44 and LLVM 23 describe such a function,
    // and so does 2.47.50 for s390x.
    let saved_sp = version == Version::V3 && abi != Abi::S390x && traces.contains(Traces::SAVED_SP);
    let saved_sp = saved_sp.then_some(Cause::SpSave);
    // observed: GNU as 2.40 and 2.44 refuse it always.
    let refused = if version < Version::V3 { Traces::ARGS_SIZE } else { Traces::LARGE_ARGS_SIZE };
    let args_size = traces.contains(refused).then_some(Cause::ArgsSize);
    let seen = table.iter().filter(|(trace, _)| traces.contains(*trace)).map(|(_, cause)| *cause);
    // observed: GNU as 2.40 and 2.44 before the first advance, LLVM 23 before the first other row.
    let remembered = match version {
        Version::V1 => traces.contains(Traces::REMEMBER_AT_START),
        Version::V2 => traces.contains(Traces::REMEMBER_FIRST),
        Version::V3 => false,
    };
    let remembered = remembered.then_some(Cause::RememberFirst);
    seen.chain(saved_sp).chain(args_size).chain(escaped).chain(remembered).min()
}

/// An instruction in a form that assemblers do not accept, although rows could express its meaning or need not. Used
/// only if no other cause is found, so before version 3 there are no expressions.
fn of_instructions(function: &Fde<'_>, version: Version, traces: Traces) -> Option<Cause> {
    if !traces.contains(Traces::EXPRESSION) && version != Version::V1 {
        return None;
    }
    let cfi = function.cfi();
    let initial = cfi.initial_instructions(function.cie()).take(MAX_INITIAL);
    let instructions = initial.chain(function.instructions()).filter_map(Result::ok);
    let causes = instructions.filter_map(|instruction| match instruction {
        // observed: GNU as 2.40 drops a function with any `.cfi_register` without a message.
        Instruction::Register(..) if version == Version::V1 => Some(Cause::OtherRegisterSave),
        Instruction::DefCfaExpression(expression) => {
            of_cfa_expression(cfi.expression(expression), cfi.abi())
        }
        Instruction::Expression(register, expression) => {
            of_expression(register, cfi.expression(expression), cfi.abi())
        }
        _ => None,
    });
    causes.min()
}

/// Whether an expression consists of a register with an offset of one byte (`DW_OP_breg0` to `DW_OP_breg31`).
const fn is_short(operations: &[u8]) -> bool {
    matches!(operations, [0x70..=0x8f, 0..=0x7f])
}

// observed: GNU as 2.47.50 accepts `.cfi_escape 0x0f, 3, 0x76, OFFSET, 0x06`, the memory at RBP plus OFFSET, only for
// AMD64. For all others it prints ".cfi_escape with op (0xf)".
fn of_cfa_expression(operations: &[u8], abi: Abi) -> Option<Cause> {
    let fp = u8::try_from(abi.fp().0).map_or(0, |register| 0x70_u8.saturating_add(register));
    match operations {
        [base, 0..=0x7f, 0x06] if abi == Abi::Amd64 && *base == fp => None,
        _ => Some(Cause::CfaExpressionForm),
    }
}

// observed: GNU as 2.47.50 accepts `.cfi_escape 0x10, REGISTER, 2, 0x70 + BASE, OFFSET`. For others it prints
// ".cfi_escape with op (0x10)", and if RA has no fixed slot ".cfi_escape DW_CFA_expression with RA reg 14".
fn of_expression(register: Register, operations: &[u8], abi: Abi) -> Option<Cause> {
    if register == abi.ra() && abi.fixed_ra_offset() == 0 {
        Some(Cause::RaExpression)
    } else if is_short(operations) {
        None
    } else {
        Some(Cause::ExpressionForm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stub_section_contains_its_bytes_and_not_its_end() {
        let stubs = Stubs { ranges: vec![(0x10, 0x20), (0x30, 0x38)] };
        let inside: Vec<_> = (0..0x40).filter(|address| stubs.contains(*address)).collect();
        assert_eq!(inside, (0x10..0x20).chain(0x30..0x38).collect::<Vec<_>>());
    }

    /// The frames that version 1 can express on AMD64 (`format`, "Frame row entries"): SP (7) or FP (6) plus an
    /// offset, and slots relative to the CFA.
    #[test]
    fn usual_frames_are_those_of_every_version() {
        let cfa = |register, offset| Cfa::RegisterOffset { register: Register(register), offset };
        let base = Frame {
            cfa: cfa(7, 8),
            ra: Recovery::AtCfa(-8),
            fp: Recovery::Unchanged,
            ra_signed: false,
        };
        let far = 1 << 31;
        let saved = Recovery::AtCfa(-16);
        let elsewhere = Recovery::RegisterOffset { register: Register(3), offset: 0 };
        for (frame, usual) in [
            (base, true),
            (Frame { cfa: cfa(6, 16), fp: saved, ..base }, true),
            (Frame { cfa: cfa(7, far - 1), fp: saved, ..base }, true),
            (Frame { cfa: cfa(10, 8), ..base }, false),
            (Frame { cfa: cfa(7, far), ..base }, false),
            (Frame { cfa: Cfa::Undefined, ..base }, false),
            (Frame { cfa: Cfa::Dereference { register: Register(6), offset: 8 }, ..base }, false),
            (Frame { fp: elsewhere, ..base }, false),
            (Frame { fp: Recovery::Undefined, ..base }, false),
            (Frame { fp: Recovery::AtCfa(far), ..base }, false),
            (Frame { ra: elsewhere, ..base }, false),
            (Frame { ra: elsewhere, fp: saved, ..base }, false),
            (Frame { ra: Recovery::Unchanged, ..base }, false),
            (Frame { ra: Recovery::AtCfa(far), ..base }, false),
        ] {
            assert_eq!(is_usual(&frame, [Register(7), Register(6)]), usual, "{frame}");
        }
    }
}
