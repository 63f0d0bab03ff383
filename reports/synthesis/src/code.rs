//! Functions as the machine code describes them, for files without CFI.
//!
//! Only what the code proves is described: where a part of the frame is not known, or no known path leads, there is no
//! entry. A function with such a place in its middle has an entry for each part of it that is known.

use sframe_oracle::cfi::Cfi;
use sframe_oracle::code::{self, Code, Facts, Truth};
use sframe_oracle::witness::CodeRange;
use sframe_validator::elf::Elf;
use sframe_validator::unwind::{Cfa, CodeAddress, Frame, Recovery, Row};
use sframe_validator::{Abi, Version};

use crate::encode::Form;
use crate::measure::measure;
use crate::model::{Function, merge};
use crate::place::Place;
use crate::smallest;
use crate::synthesis::{Encoding, Synthesis, SynthesisError, finish};

/// `pacibsp`, which signs RA with the B key (Arm Architecture Reference Manual, C6.2).
const PACIBSP: u32 = 0xd503_237f;

/// The size of a register in the stack, in bytes.
const WORD: i64 = 8;

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
/// symbols or CFI say that one starts.
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
    let code = Code::of(elf, &[], cfi).ok_or(SynthesisError::NoCodeWitness)?;
    let form = smallest::form(version, abi, place);
    let (mut functions, mut bytes, mut described) = (Vec::new(), 0_u64, 0_u64);
    for range in code.functions() {
        bytes = bytes.saturating_add(range.bytes());
        let Some(mut function) = code.function(range.start) else { continue };
        for part in parts(elf, &form, *range, &mut function) {
            described = described.saturating_add(part.size.into());
            functions.push(part);
        }
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
) -> Vec<Function> {
    let pauth_key_b = form.abi.is_aarch64() && signs_with_key_b(elf, range);
    let mut rows: Vec<Row> = Vec::new();
    let (start, end) = (range.start.address, range.end);
    function.visit(start..end, |from, to, facts| {
        let before = rows.last().filter(|row| row.end == from).map(|row| row.frame);
        if let Some(frame) = frame(form.abi, &facts, before.as_ref()) {
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

/// The frame before an instruction, if all of it is known. Of several ways to say the same, the one that compilers choose:
/// relative to FP while FP holds the frame, and in the stack what was stored there, even if the register still has it. The
/// rows of a function are fewest this way.
fn frame(abi: Abi, facts: &Facts<'_>, before: Option<&Frame>) -> Option<Frame> {
    let mut frame = facts.known().frame()?;
    if let (fixed @ ..=-1, Recovery::Unchanged) = (abi.fixed_ra_offset(), frame.ra) {
        frame.ra = Recovery::AtCfa(fixed.into());
    }
    let Cfa::RegisterOffset { offset, .. } = frame.cfa else { return Some(frame) };
    let is_proven = |frame: &Frame| facts.check(frame).whole() == Truth::Proven;
    let mut prefer = |change: &dyn Fn(&mut Frame)| {
        let mut candidate = frame;
        change(&mut candidate);
        if is_proven(&candidate) {
            frame = candidate;
        }
    };
    // A push stores at SP, and `stp x29, x30` stores RA above FP.
    prefer(&|frame| frame.fp = Recovery::AtCfa(-offset));
    if abi.is_aarch64() {
        prefer(&|frame| frame.ra = Recovery::AtCfa(WORD - offset));
    }
    prefer(&|frame| frame.cfa = Cfa::RegisterOffset { register: abi.fp(), offset });
    if let Some(before) = before.copied() {
        prefer(&|frame| frame.fp = before.fp);
        prefer(&|frame| frame.ra = before.ra);
        prefer(&|frame| frame.cfa = before.cfa);
    }
    Some(frame)
}

/// Whether a function signs return addresses with the B key.
fn signs_with_key_b(elf: &Elf<'_>, range: CodeRange) -> bool {
    let code = elf.code_bytes(range.start, range.bytes()).unwrap_or_default();
    let (words, _) = code.as_chunks::<4>();
    // Instructions are little-endian on every AArch64 system.
    words.iter().any(|word| u32::from_le_bytes(*word) == PACIBSP)
}
