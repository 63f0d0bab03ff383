//! The instructions at a place.

use sframe_record::json::hex;
use sframe_record::{Address, Instruction, Text};
use sframe_validator::Abi;
use sframe_validator::elf::Elf;
use sframe_validator::unwind::CodeAddress;

use crate::disassembly::disassemble;

/// The number of instructions of the range that are shown.
const MAX_INSTRUCTIONS: usize = 8;
/// The size in bytes of the longest instruction (AMD64).
const LONGEST: u64 = 15;
/// The maximum number of bytes of a function that are decoded to find the start of an instruction.
const MAX_DECODED: u64 = 1 << 16;
/// The number of bytes that are shown of an instruction that is not decoded: all of it on AArch64.
const SHOWN: u64 = 4;

/// The instruction that contains `place`, in the function that begins at `function`.
pub fn instruction_at(
    elf: &Elf<'_>,
    abi: Abi,
    function: CodeAddress,
    place: CodeAddress,
) -> Option<Instruction<'static>> {
    let end = place.address.saturating_add(LONGEST);
    code(elf, abi, function, place.address, end).into_iter().next()
}

/// The instruction at `place`, which a reason names, or its first bytes if it is not decoded: nobody knows how many belong to it.
#[must_use]
pub fn instruction_to_blame(elf: &Elf<'_>, place: CodeAddress) -> Option<Instruction<'static>> {
    let decoded = instruction_at(elf, elf.abi()?, place, place);
    decoded.or_else(|| {
        let bytes = hex(elf.code_bytes(place, SHOWN)?).into();
        Some(Instruction { address: Address(place.address), bytes, text: Text::default() })
    })
}

/// The instructions in `[start, end)` of the function that begins at `function`.
pub fn code(
    elf: &Elf<'_>,
    abi: Abi,
    function: CodeAddress,
    start: u64,
    end: u64,
) -> Vec<Instruction<'static>> {
    // A row starts at the start of an instruction. This is used if the start of the function is too far away.
    let near = start.checked_sub(function.address).is_some_and(|bytes| bytes <= MAX_DECODED);
    let first = if near { function.address } else { start };
    let place = CodeAddress { section: function.section, address: first };
    let Some(bytes) = elf.code_bytes(place, end.saturating_sub(first)) else { return Vec::new() };
    let instructions = disassemble(abi, bytes, first, start, MAX_INSTRUCTIONS);
    instructions.into_iter().map(Instruction::from).collect()
}
