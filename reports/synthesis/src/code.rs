//! Functions as the machine code describes them, for files without CFI.
//!
//! Only what the code proves is described: where a part of the frame is not known, or no known path leads, there is no
//! entry. A function with such a place in its middle has an entry for each part of it that is known.

use sframe_oracle::cfi::{Cfi, Fde, RowContext};
use sframe_oracle::code::{self, KnownFacts, Program, ProvenRow, Truth, Workspace};
use sframe_oracle::witness::CodeRange;
use sframe_validator::elf::Elf;
use sframe_validator::unwind::{Cfa, CodeAddress, Frame, Recovery, Row};
use sframe_validator::{Abi, Version};

use crate::encode::Form;
use crate::measure::{measure, plain_words};
use crate::model::{Function, merge};
use crate::place::Place;
use crate::smallest;
use crate::synthesis::{Encoding, Synthesis, SynthesisError, finish};

/// `pacibsp`, which signs RA with the B key (Arm Architecture Reference Manual, C6.2).
const PACIBSP: u32 = 0xd503_237f;

/// A section made from machine code.
#[derive(Clone, Debug)]
pub struct FromCode {
    /// The section.
    pub synthesis: Synthesis,
    /// The bytes of the functions' code.
    pub code: u64,
    /// Those of them that no entry describes: padding, and what is not known.
    pub unknown: u64,
}

/// Makes the smallest section of a version from the machine code of a file for AMD64 or AArch64. Functions start where
/// symbols or CFI say that one starts, and in a stripped program without CFI where its code shows it.
///
/// # Errors
/// [`SynthesisError`].
pub fn synthesize_code(
    elf: &Elf<'_>,
    cfi: &[Cfi<'_>],
    version: Version,
    place: Place,
) -> Result<FromCode, SynthesisError> {
    let abi = elf.abi().ok_or(SynthesisError::Machine)?;
    if !Encoding::Smallest(version).supports(abi) {
        return Err(SynthesisError::VersionOfAbi);
    }
    let code = Program::of(elf, &[], cfi).ok_or(SynthesisError::NoCodeWitness)?;
    let form = smallest::form(version, abi, place);
    let (mut functions, mut bytes, mut described) = (Vec::new(), 0_u64, 0_u64);
    let mut stated = StatedRows::new(cfi, elf);
    let mut workspace = Workspace::default();
    let replaced = elf.replaced_code();
    for range in code.functions() {
        if replaced.as_ref().is_some_and(|replaced| replaced.contains(range.start)) {
            continue;
        }
        bytes = bytes.saturating_add(range.bytes());
        let function = code.function_in(range.start, &mut workspace);
        let Some(mut function) = function else { continue };
        for part in parts(elf, &form, *range, &mut function, &mut stated) {
            described = described.saturating_add(part.size.into());
            functions.push(part);
        }
        workspace.recycle(function);
    }
    let synthesis = finish(&form, functions, Vec::new())?;
    Ok(FromCode { synthesis, code: bytes, unknown: bytes.saturating_sub(described) })
}

/// The entries for the parts of a function whose frames are known.
fn parts(
    elf: &Elf<'_>,
    form: &Form,
    range: CodeRange,
    function: &mut code::Function<'_>,
    stated: &mut StatedRows<'_>,
) -> Vec<Function> {
    let pauth_key_b = form.abi.is_aarch64() && signs_with_key_b(elf, range);
    let mut rows: Vec<Row> = Vec::new();
    let (start, end) = (range.start.address, range.end);
    function.visit(start..end, |from, to, facts| {
        let before = rows.last().filter(|row| row.end == from).map(|row| row.frame);
        let stated = stated.at(CodeAddress { address: from, ..range.start });
        if let Some(frame) = frame(form, &facts, before.as_ref(), stated) {
            rows.push(Row { start: from, end: to.min(end), frame });
        }
    });
    let entry = |rows: Vec<Row>| {
        let (first, last) = (rows.first()?, rows.last()?);
        let made = Function {
            start: CodeAddress { address: first.start, ..range.start },
            size: u32::try_from(last.end.checked_sub(first.start)?).ok()?,
            signal: false,
            pauth_key_b,
            block: None,
            start_width: None,
            flexible: false,
            rows,
        };
        measure(form, &made).is_some().then_some(made)
    };
    let adjacent = rows.chunk_by(|row, next| row.end == next.start);
    let merged = adjacent.map(|rows| {
        let mut rows = rows.to_vec();
        rows.dedup_by(|next, row| merge(row, next));
        rows
    });
    merged.filter_map(entry).collect()
}

/// The frame before an instruction, if all of it is known and the form can express it. Of several ways to say the same, that of
/// CFI, if there is any, else the one that compilers choose: in the stack what was stored there, even if the register still has
/// it. On AArch64, SFrame knows a saved FP only together with a saved RA (V3 3.2).
fn frame(
    form: &Form,
    facts: &KnownFacts<'_>,
    before: Option<&Frame>,
    stated: Option<Frame>,
) -> Option<Frame> {
    let is_right = |frame: &Frame| {
        plain_words(form, frame).is_some() && facts.judge(frame).whole() == Truth::Proven
    };
    if let Some(stated) = stated.filter(is_right) {
        return Some(stated);
    }
    let (known, saved) = (facts.proven_row(), facts.saved_row());
    let cfa = cfa(form.abi, facts, &saved)?;
    let fixed = match form.abi.fixed_ra_offset() {
        0 => None,
        fixed => Some((Recovery::AtCfa(fixed.into()), false)),
    };
    let of = |it: &ProvenRow| it.ra.map(|ra| (ra, it.ra_signed));
    let is_as_before = |frame: &&Frame| {
        let is_saved = |rule| matches!(rule, Recovery::AtCfa(_));
        is_saved(frame.fp) == saved.fp.is_some() && is_saved(frame.ra) == saved.ra.is_some()
    };
    let before = before.filter(is_as_before).map(|it| ((it.ra, it.ra_signed), it.fp));
    let (in_slot, in_register) = (fixed.or(of(&saved)).or(of(&known)), fixed.or(of(&known)));
    let (fp_in_slot, fp_in_register) = (saved.fp.or(known.fp), known.fp);
    let ways = [
        before,
        in_slot.zip(fp_in_slot),
        in_slot.zip(fp_in_register),
        in_register.zip(fp_in_register),
    ];
    let frames = ways.into_iter().flatten();
    let mut frames = frames.map(|((ra, ra_signed), fp)| Frame { cfa, ra, fp, ra_signed });
    frames.find(is_right)
}

/// The CFA relative to SP or FP. Compilers for AMD64 use FP as long as it points to the caller's FP, those for AArch64 only where
/// the distance of SP is not known.
fn cfa(abi: Abi, facts: &KnownFacts<'_>, saved: &ProvenRow) -> Option<Cfa> {
    let (from_sp, from_fp) = (facts.cfa_from(abi.sp()), facts.cfa_from(abi.fp()));
    let is_chain = match (from_fp, saved.fp) {
        (Some(Cfa::RegisterOffset { offset, .. }), Some(Recovery::AtCfa(slot))) => slot == -offset,
        _ => false,
    };
    match is_chain && !abi.is_aarch64() {
        true => from_fp,
        false => from_sp.or(from_fp),
    }
}

/// The rows of CFI, read function by function.
struct StatedRows<'c> {
    cfi: &'c [Cfi<'c>],
    /// The function that was read last, and its rows.
    last: Option<(Fde<'c>, Vec<Row>)>,
    /// The number of rows that may still be read: functions that overlap could be read again and again.
    left: usize,
}

impl<'c> StatedRows<'c> {
    const fn new(cfi: &'c [Cfi<'c>], elf: &Elf<'_>) -> StatedRows<'c> {
        StatedRows { cfi, last: None, left: elf.data().len() }
    }

    /// The frame at a place.
    fn at(&mut self, place: CodeAddress) -> Option<Frame> {
        if !self.last.as_ref().is_some_and(|(function, _)| function.contains(place)) {
            let function = self.cfi.iter().find_map(|cfi| cfi.find(place))?;
            let mut context = RowContext::new(function.cfi());
            let rows: Vec<Row> =
                function.rows(&mut context).take(self.left).map_while(Result::ok).collect();
            self.left = self.left.saturating_sub(rows.len());
            self.last = Some((function, rows));
        }
        let (_, rows) = self.last.as_ref()?;
        let after = rows.partition_point(|row| row.start <= place.address);
        let row = rows.get(after.checked_sub(1)?)?;
        (place.address < row.end).then_some(row.frame)
    }
}

/// Whether a function signs return addresses with the B key.
fn signs_with_key_b(elf: &Elf<'_>, range: CodeRange) -> bool {
    let code = elf.code_bytes(range.start, range.bytes()).unwrap_or_default();
    let (words, _) = code.as_chunks::<4>();
    // Instructions are little-endian on every AArch64 system.
    words.iter().any(|word| u32::from_le_bytes(*word) == PACIBSP)
}
