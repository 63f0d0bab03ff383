//! Holds all of a file's ORC tables against its machine code.

use core::ops::AddAssign;

use sframe_validator::unwind::{CodeAddress, Frame};

use super::proof::ProofSums;
use crate::code::{Code, Known, Truth};
use crate::orc::{Meaning, Orc};
use crate::witness::CodeRange;

/// Bytes of code by what the code proves about its ORC tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct OrcProof {
    /// All of the code.
    pub sums: ProofSums,
    /// The part of `unknown` that ORC does not describe.
    pub undefined: u64,
    /// The part of `unknown` where the meaning of ORC is undecided.
    pub undecided: u64,
}

impl AddAssign for OrcProof {
    fn add_assign(&mut self, other: OrcProof) {
        self.sums += other.sums;
        self.undefined = self.undefined.saturating_add(other.undefined);
        self.undecided = self.undecided.saturating_add(other.undecided);
    }
}

/// A range of PCs about which ORC is wrong.
#[derive(Clone, Copy, Debug)]
pub struct OrcRefuted {
    /// The function that contains it.
    pub function: CodeRange,
    /// The first PC.
    pub start: CodeAddress,
    /// The end, exclusive.
    pub end: u64,
    /// The frame according to ORC at the first PC.
    pub orc: Frame,
    /// What the code says there.
    pub known: Known,
}

/// Compares the entries of `orc` with `code`, both of which must belong to the same file. Each range that the code refutes
/// is passed to `refuted`, in the order of addresses.
pub fn prove_orc(code: &Code<'_>, orc: &Orc, mut refuted: impl FnMut(&OrcRefuted)) -> OrcProof {
    let mut proof = OrcProof::default();
    for range in code.functions() {
        proof += prove_function(code, *range, orc, &mut refuted);
    }
    proof
}

fn prove_function(
    code: &Code<'_>,
    range: CodeRange,
    orc: &Orc,
    refuted: &mut impl FnMut(&OrcRefuted),
) -> OrcProof {
    let mut proof = OrcProof::default();
    proof.sums.unreached = range.bytes();
    let Some(mut function) = code.function(range.start) else { return proof };
    let mut last: Option<OrcRefuted> = None;
    function.visit(range.start.address..range.end, |from, to, facts| {
        // An instruction may end after the function.
        let bytes = to.min(range.end).saturating_sub(from);
        proof.sums.unreached = proof.sums.unreached.saturating_sub(bytes);
        let start = CodeAddress { address: from, ..range.start };
        let frame = match orc.find(start).map(|entry| entry.meaning) {
            None | Some(Meaning::Undefined) => {
                proof.undefined += bytes;
                None
            }
            Some(Meaning::Undecided(_)) => {
                proof.undecided += bytes;
                None
            }
            Some(Meaning::Frame { frame, .. }) => Some(frame),
        };
        let truth = frame.map_or(Truth::Unknown, |frame| facts.check(&frame).whole());
        match (truth, frame) {
            (Truth::Proven, _) => proof.sums.proven += bytes,
            (Truth::Refuted, Some(orc)) => {
                proof.sums.refuted += bytes;
                if let Some(last) = last.as_mut().filter(|last| last.end == from) {
                    last.end = to;
                } else {
                    last.iter().for_each(&mut *refuted);
                    let known = facts.known();
                    last = Some(OrcRefuted { function: range, start, end: to, orc, known });
                }
            }
            _ => proof.sums.unknown += bytes,
        }
    });
    last.iter().for_each(refuted);
    proof
}
