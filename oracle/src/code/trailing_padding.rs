//! The padding after a function whose size nobody recorded.

use sframe_validator::elf::Elf;
use sframe_validator::unwind::CodeAddress;

use super::machine::Machine;
use super::padding::{Filling, Paddings};

/// The number of bytes of padding at the end of code; 0 if code of the file's machine is not examined.
pub(crate) fn padding_at_end(elf: &Elf<'_>, start: CodeAddress, size: u64) -> u64 {
    let Some(machine) = elf.abi().and_then(Machine::of) else { return 0 };
    let Some(code) = elf.code_bytes(start, size) else { return 0 };
    // Code of filler alone is padding from its start.
    let mut paddings = Paddings::after(Filling::End);
    machine.search_padding(code, &mut paddings);
    let last = paddings.found().pop().filter(|last| last.end == code.len());
    last.map_or(0, |last| last.len() as u64)
}
