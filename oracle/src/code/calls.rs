//! The call instructions of a function.

use core::ops::Range;

use super::Program;
use super::effect::Decoder;
use super::machine::WithDecoder;
use crate::witness::CodeRange;

/// Code at an address.
struct CallsIn<'c> {
    code: &'c [u8],
    address: u64,
}

impl Program<'_> {
    /// The first address and the end of each call instruction in a function, in the order of addresses. The code is decoded
    /// from the function's start to its end, whether paths lead there or not.
    pub(crate) fn calls(&self, function: CodeRange) -> Vec<Range<u64>> {
        let code = self.elf().code_bytes(function.start, function.bytes());
        let calls = code.map(|code| CallsIn { code, address: function.start.address });
        calls.map_or_else(Vec::new, |calls| self.machine().decode(calls))
    }
}

impl<'c> WithDecoder<'c> for CallsIn<'c> {
    type Output = Vec<Range<u64>>;

    fn run(self, decoder: &mut impl Decoder<'c>) -> Vec<Range<u64>> {
        let CallsIn { code, mut address } = self;
        let (mut calls, mut offset) = (Vec::new(), 0);
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
