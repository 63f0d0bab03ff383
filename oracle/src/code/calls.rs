//! The call instructions of a function.

use core::ops::Range;

use super::Program;
use super::effect::Decoder;
use super::machine::Machine;
use crate::witness::CodeRange;

impl Program<'_> {
    /// The first address and the end of each call instruction in a function, in the order of addresses. The code is decoded
    /// from the function's start to its end, whether paths lead there or not.
    pub(crate) fn calls(&self, function: CodeRange) -> Vec<Range<u64>> {
        let mut calls = Vec::new();
        let Some(code) = self.elf().code_bytes(function.start, function.bytes()) else {
            return calls;
        };
        let Some(mut decoder) = Machine::of(self.abi()) else { return calls };
        let (mut offset, mut address) = (0, function.start.address);
        while offset < code.len() {
            // Bytes that are no instruction may be data in code.
            let preview = decoder.preview(code, offset, address);
            let length = preview.map_or(1, |preview| preview.length.max(1));
            let end = address.saturating_add(u64::from(length));
            if preview.is_some_and(|preview| preview.next.is_call()) {
                calls.push(address..end);
            }
            address = end;
            offset += usize::from(length);
        }
        calls
    }
}
