//! What a function needs to know of the rest of the file.

use sframe_validator::Abi;

use super::effect::{Effect, Next};
use crate::cfi::LandingPad;

/// A piece of a function's code.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part<'c> {
    /// The address of the first byte.
    pub(super) start: u64,
    pub(super) code: &'c [u8],
}

impl Part<'_> {
    /// The offset of an address that is in the part.
    pub(super) fn offset(&self, address: u64) -> Option<usize> {
        let offset = usize::try_from(address.checked_sub(self.start)?).ok()?;
        (offset < self.code.len()).then_some(offset)
    }
}

/// Where a function is entered.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) address: u64,
    pub(super) by: By,
}

/// How a function is entered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum By {
    /// Calls of other functions, or of its start, lead there.
    Call,
    /// Calls within the function lead there.
    LocalCall,
    /// Nothing is known to call it. The entry is given up if jumps lead there with another stack.
    Presumption,
}

/// Where exceptions continue that pass a function's calls.
#[derive(Clone, Debug, Default)]
pub(super) struct Exceptions {
    /// The landing pads, by the addresses of the calls.
    pub(super) pads: Vec<LandingPad>,
    /// From which address on how many bytes of arguments are removed.
    pub(super) arguments: Vec<(u64, u64)>,
}

impl Exceptions {
    pub(super) fn add(&mut self, mut other: Exceptions) {
        self.pads.append(&mut other.pads);
        self.pads.sort_by_key(|pad| pad.start);
        self.arguments.append(&mut other.arguments);
        self.arguments.sort_unstable();
    }

    /// The landing pad of a call.
    pub(super) fn pad_of(&self, call: u64) -> Option<u64> {
        let after = self.pads.partition_point(|pad| pad.start <= call);
        let pad = self.pads.get(after.checked_sub(1)?)?;
        (call < pad.end).then_some(pad.pad)
    }

    /// The bytes that an exception removes from the stack when it passes a call.
    pub(super) fn arguments_of(&self, call: u64) -> i64 {
        let after = self.arguments.partition_point(|(from, _)| *from <= call);
        let last = after.checked_sub(1).and_then(|last| self.arguments.get(last));
        last.map_or(0, |(_, bytes)| bytes.cast_signed())
    }
}

/// The rest of the file.
pub(super) trait Surroundings<'c> {
    /// The machine.
    fn abi(&self) -> Abi;
    /// `size` bytes of the file at an address.
    fn read(&self, address: u64, size: usize) -> Option<&'c [u8]>;
    /// The lowest address after this one that an instruction of the file refers to.
    fn next_referenced(&self, address: u64) -> u64;
    /// The code of the function at an address.
    fn part(&self, address: u64) -> Option<Part<'c>>;
    /// Whether an address is in code that is not called, has no name of a function, and whose address nothing contains: a
    /// compiler keeps rarely executed code apart from its function.
    fn is_part_of_functions(&self, address: u64) -> bool;
    /// Where exceptions continue that pass calls in a part.
    fn exceptions(&self, part: &Part<'c>) -> Exceptions;
    /// The number in bytes at an address of data, or the one that the linker will put there. `None` if that is not known.
    fn number(&self, address: u64, bytes: &[u8]) -> Option<u64>;
    /// Where execution continues after an instruction, whose target and effects may have been changed by relocations.
    fn relocate(&self, address: u64, length: u8, next: Next, effects: &mut [Effect]) -> Next;
    /// Whether interrupts may enter the code with this very stack: it belongs to a kernel.
    fn is_kernel(&self) -> bool;
    /// Whether a called function certainly does not return.
    fn never_returns(&self, function: u64) -> bool;
    /// Notes that a block is executed. Returns false if too much was executed in this file.
    fn spend(&self) -> bool;
    /// Whether other functions, or parts of this one, contain jumps to an address.
    fn is_entered_elsewhere(&self, address: u64) -> bool;
}
