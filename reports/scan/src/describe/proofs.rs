//! What the machine code proves, in the record of a file.

use sframe_oracle::code::Unproven;
use sframe_oracle::compare::{self, UnprovenSum};
use sframe_oracle::witness::CodeRange;
use sframe_record::json::hex;
use sframe_record::{Address, Instruction, ProofBytes, Proofs, Text, UnprovenBytes};
use sframe_validator::elf::Elf;
use sframe_validator::unwind::CodeAddress;

use super::coverage::place;
use super::evidence::instruction_at;
use super::names::Names;

/// The number of bytes that are shown of an instruction that is not decoded: all of it on AArch64.
const SHOWN: u64 = 4;

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

/// The bytes of an instruction that is not decoded; nobody knows how many belong to it.
fn undecoded_at(elf: &Elf<'_>, place: CodeAddress) -> Option<Instruction<'static>> {
    let bytes = elf.code_bytes(place, SHOWN)?;
    Some(Instruction {
        address: Address(place.address),
        bytes: hex(bytes).into(),
        text: Text::default(),
    })
}

fn undecided_bytes(
    (reason, sum): (Unproven, UnprovenSum),
    elf: &Elf<'_>,
    names: &Names<'_, '_>,
) -> UnprovenBytes<'static> {
    let first = sum.first.map(|(range, _)| range);
    let cause = |place: CodeAddress| {
        let decoded = instruction_at(elf, elf.abi()?, place, place);
        decoded.or_else(|| undecoded_at(elf, place))
    };
    UnprovenBytes {
        reason,
        bytes: sum.bytes(),
        first: first.map(|range: CodeRange| place(range.start, range.bytes(), names)),
        cause: sum.first.and_then(|(_, cause)| cause).and_then(cause),
    }
}
