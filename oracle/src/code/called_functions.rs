//! Functions that nothing names: in code without symbols, CFI and SFrame, one starts at the entry point of the file, and where a direct
//! call leads that control can reach from there.

use std::collections::BTreeSet;

use sframe_validator::elf::{Elf, ElfKind};
use sframe_validator::unwind::CodeAddress;

use super::effect::{ControlFlow, Decoder};
use super::machine::{Machine, WithDecoder};
use crate::witness::CodeRange;

/// The functions in the sections of a linked file in which none of `known` starts. Each ends where the next one starts, or with its
/// section.
pub(super) fn called_functions(
    elf: &Elf<'_>,
    machine: Machine,
    known: &[CodeRange],
) -> Vec<CodeRange> {
    if !matches!(elf.kind(), ElfKind::Executable | ElfKind::Shared) || elf.entry() == 0 {
        return Vec::new();
    }
    let is_known = |range: &CodeRange| {
        let after = known.partition_point(|it| it.start < range.start);
        known.get(after).is_some_and(|it| it.start.address < range.end)
    };
    let code = elf
        .code()
        .map(|(start, size)| CodeRange { start, end: start.address.saturating_add(size) });
    let mut unnamed: Vec<CodeRange> = code.filter(|range| !is_known(range)).collect();
    unnamed.sort_unstable();
    // Sections that overlap are not searched: together they may be larger than the file.
    let (mut done, mut room) = (0, elf.data().len());
    let sections = unnamed.into_iter().filter_map(|range| {
        let code = elf.code_bytes(range.start, range.bytes())?;
        room = room.checked_sub(code.len())?;
        let is_apart = range.start.address >= done;
        done = range.end.max(done);
        is_apart.then(|| Unnamed { range, code, is_decoded: vec![false; code.len()] })
    });
    let walk = Walk { entry: elf.entry(), sections: sections.collect() };
    machine.decode(walk)
}

/// A section in which nothing says where functions start.
struct Unnamed<'e> {
    range: CodeRange,
    code: &'e [u8],
    /// Whether an instruction that starts at a byte was decoded.
    is_decoded: Vec<bool>,
}

/// What control can reach from the entry point by direct calls and jumps.
struct Walk<'e> {
    entry: u64,
    /// In the order of addresses, without overlaps.
    sections: Vec<Unnamed<'e>>,
}

impl<'e> WithDecoder<'e> for Walk<'e> {
    type Output = Vec<CodeRange>;

    fn run(mut self, decoder: &mut impl Decoder<'e>) -> Vec<CodeRange> {
        let mut starts = BTreeSet::from([self.entry]);
        let mut waiting = vec![self.entry];
        while let Some(address) = waiting.pop() {
            self.follow(address, decoder, &mut starts, &mut waiting);
        }
        let sections = self.sections.iter();
        sections.flat_map(|section| functions(section.range, &starts)).collect()
    }
}

impl<'e> Walk<'e> {
    /// Decodes the instructions from an address on, as far as control goes straight on and they are new.
    fn follow(
        &mut self,
        address: u64,
        decoder: &mut impl Decoder<'e>,
        starts: &mut BTreeSet<u64>,
        waiting: &mut Vec<u64>,
    ) {
        let after = self.sections.partition_point(|it| it.range.start.address <= address);
        let section = after.checked_sub(1).and_then(|index| self.sections.get_mut(index));
        let Some(Unnamed { range, code, is_decoded }) = section else { return };
        let Ok(mut offset) = usize::try_from(address.wrapping_sub(range.start.address)) else {
            return;
        };
        while let Some(is_decoded) = is_decoded.get_mut(offset).filter(|it| !**it) {
            *is_decoded = true;
            let address = range.start.address.saturating_add(offset as u64);
            let Some(preview) = decoder.preview(code, offset, address) else { return };
            offset = offset.saturating_add(usize::from(preview.length).max(1));
            let next = address.saturating_add(u64::from(preview.length));
            match preview.next {
                // A call of the next instruction is a push.
                ControlFlow::Call(to) if to != next => {
                    starts.insert(to);
                    waiting.push(to);
                }
                ControlFlow::Branch(to, _) => waiting.push(to),
                ControlFlow::Jump(to) => return waiting.push(to),
                ControlFlow::Indirect(_)
                | ControlFlow::NoReturnCall
                | ControlFlow::Return
                | ControlFlow::Stop => return,
                ControlFlow::Call(_)
                | ControlFlow::IndirectCall
                | ControlFlow::CallBy(_)
                | ControlFlow::Following
                | ControlFlow::SystemCall => {}
            }
        }
    }
}

/// The functions of a section with these starts.
fn functions(section: CodeRange, starts: &BTreeSet<u64>) -> Vec<CodeRange> {
    let inside: Vec<u64> = starts.range(section.start.address..section.end).copied().collect();
    let ends = inside.iter().skip(1).copied().chain([section.end]);
    let range = |(start, end): (&u64, u64)| CodeRange {
        start: CodeAddress { address: *start, ..section.start },
        end,
    };
    inside.iter().zip(ends).map(range).collect()
}
