//! The context of an analysis: what it may ask of the rest of the file.

use sframe_validator::Abi;

use super::conventions::Conventions;
use super::effect::{ControlFlow, Effect};
use crate::cfi::LandingPad;

/// A contiguous piece of a function's code: compilers put what is rarely executed elsewhere.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fragment<'c> {
    /// The address of the first byte.
    pub(super) start: u64,
    pub(super) code: &'c [u8],
}

impl Fragment<'_> {
    /// The offset of an address, if it is in the fragment.
    pub(super) fn offset(&self, address: u64) -> Option<usize> {
        let offset = usize::try_from(address.checked_sub(self.start)?).ok()?;
        (offset < self.code.len()).then_some(offset)
    }
}

/// An entry of a function, where the analysis starts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub(super) address: u64,
    pub(super) kind: EntryKind,
}

/// How an entry of a function is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// By calls from other functions, or of the function's start.
    Call,
    /// By calls within the function only.
    LocalCall,
    /// By the return of a signal handler.
    SignalReturn,
    /// Nothing is known to call it. The assumption falls if an edge has another stack there.
    Presumed,
}

/// The exceptional edges of a function: where exceptions that pass its calls continue.
#[derive(Clone, Debug, Default)]
pub(super) struct Exceptions {
    /// The landing pads, by the addresses of the calls.
    pub(super) pads: Vec<LandingPad>,
    /// The bytes of arguments that are removed, from an address on.
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

/// What an analysis may ask of the file.
pub(super) trait FileContext<'c> {
    fn abi(&self) -> Abi;
    fn conventions(&self) -> &'static Conventions;
    /// `size` bytes of the file at an address.
    fn read(&self, address: u64, size: usize) -> Option<&'c [u8]>;
    /// The lowest address after this one that an instruction of the file refers to.
    fn next_referenced(&self, address: u64) -> u64;
    /// The code of the function at an address, to become a fragment of this one.
    fn fragment(&self, address: u64) -> Option<Fragment<'c>>;
    /// Whether an address is in code that is not called, has no name of a function, and whose address nothing contains: a
    /// compiler keeps rarely executed code apart from its function.
    fn is_presumed_fragment(&self, address: u64) -> bool;
    /// The exceptional edges in a fragment.
    fn exceptions(&self, fragment: &Fragment<'c>) -> Exceptions;
    /// The number in bytes at an address of data, or the one that the linker will put there. `None` if that is not known.
    fn number(&self, address: u64, bytes: &[u8]) -> Option<u64>;
    /// Where control goes after an instruction. Relocations may change that, and its effects.
    fn relocate(
        &self,
        address: u64,
        length: u8,
        next: ControlFlow,
        effects: &mut [Effect],
    ) -> ControlFlow;
    /// Whether the code belongs to a kernel.
    fn is_kernel(&self) -> bool;
    /// Whether the code may rely on the red zone of its machine, if that has one.
    fn has_red_zone(&self) -> bool;
    /// Whether a function certainly does not return.
    fn never_returns(&self, function: u64) -> bool;
    /// Whether a function keeps the registers that functions keep for their callers: all do, but those that a compiler has outlined.
    fn keeps_registers(&self, function: u64) -> bool;
    /// Takes a block that is executed from the budget. Returns false if nothing is left of it.
    fn spend(&self) -> bool;
    /// Whether other functions, or fragments of this one, contain jumps to an address.
    fn is_entered_elsewhere(&self, address: u64) -> bool;
}
