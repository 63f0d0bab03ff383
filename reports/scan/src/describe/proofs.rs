//! What the machine code proves, in the record of a file.

use sframe_oracle::code::Unproven;
use sframe_oracle::compare::{self, UnprovenSum};
use sframe_oracle::witness::CodeRange;
use sframe_record::{ProofBytes, Proofs, UnprovenBytes};
use sframe_validator::elf::Elf;

use super::coverage::place;
use super::instructions::instruction_to_blame;
use super::names::Names;

/// The sums of the witnesses that describe any code of a file.
#[must_use]
pub fn proofs(sums: &compare::Proofs, elf: &Elf<'_>, names: &Names<'_, '_>) -> Proofs<'static> {
    let of = |sums| bytes(sums, elf, names);
    Proofs { sframe: of(&sums.sframe), cfi: of(&sums.cfi), wrong_rules: sums.wrong_rules }
}

fn bytes(
    sums: &compare::ProofSums,
    elf: &Elf<'_>,
    names: &Names<'_, '_>,
) -> Option<ProofBytes<'static>> {
    let compare::ProofSums { proven, refuted, undecided } = *sums;
    (sums.total() > 0).then(|| ProofBytes {
        proven,
        refuted,
        unknown: undecided.reached(),
        unreached: undecided.unreached(),
        undecided: undecided.reasons().map(|of| undecided_bytes(of, elf, names)).collect(),
    })
}

fn undecided_bytes(
    (reason, sum): (Unproven, UnprovenSum),
    elf: &Elf<'_>,
    names: &Names<'_, '_>,
) -> UnprovenBytes<'static> {
    let first = sum.first.map(|(range, _)| range);
    UnprovenBytes {
        reason,
        bytes: sum.bytes(),
        first: first.map(|range: CodeRange| place(range.start, range.bytes(), names)),
        cause: sum
            .first
            .and_then(|(_, cause)| cause)
            .and_then(|cause| instruction_to_blame(elf, cause)),
    }
}
