//! A section of code in which nothing says where functions start, and what was seen of its instructions.

use std::collections::BTreeSet;

use crate::code::effect::ControlFlow;
use crate::code::machine::Machine;
use crate::code::padding::{Filling, Paddings};
use crate::witness::CodeRange;

/// The distance in bytes between the start of a function and the end of the code before it up to which filling is skipped: more
/// than compilers fill.
const MOST_FILLING: usize = 64;

/// What is known about the byte at a place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Mark {
    /// Control was not seen to come here.
    #[default]
    Unreached,
    /// An instruction starts here after which control goes on.
    Continues,
    /// A call starts here.
    Calls,
    /// A jump to an address in a register starts here.
    JumpsByRegister,
    /// Another instruction starts here after which control does not go on.
    Ends,
    /// An instruction contains the byte.
    Inside,
}

impl Mark {
    /// The mark of an instruction, whose end is at `next`.
    pub(super) fn of(flow: ControlFlow, next: u64) -> Mark {
        match flow {
            // It is a push.
            ControlFlow::Call(to) if to == next => Mark::Continues,
            ControlFlow::Call(_) | ControlFlow::IndirectCall | ControlFlow::CallBy(_) => {
                Mark::Calls
            }
            ControlFlow::Branch(..) | ControlFlow::Following | ControlFlow::SystemCall => {
                Mark::Continues
            }
            ControlFlow::Indirect(_) => Mark::JumpsByRegister,
            ControlFlow::Jump(_)
            | ControlFlow::NoReturnCall
            | ControlFlow::Return
            | ControlFlow::Stop => Mark::Ends,
        }
    }

    /// Whether control does not go on after the instruction.
    pub(super) const fn ends(self) -> bool {
        matches!(self, Mark::JumpsByRegister | Mark::Ends)
    }
}

/// What is before a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Before {
    /// Nothing that was decoded.
    Unknown,
    /// An instruction from which control comes to the place.
    Continues,
    /// A call, which may not return, or filling after code from which control comes.
    MayEnd,
    /// A jump to an address in a register. Jump tables of AArch64 have distances from the place after it.
    JumpsByRegister,
    /// Another instruction after which control does not go on, or filling after one.
    Ends,
}

/// A section of code in which nothing says where functions start.
pub(super) struct Region<'e> {
    pub(super) range: CodeRange,
    pub(super) code: &'e [u8],
    /// It may be data: only a call leads to a function in it.
    pub(super) may_be_data: bool,
    reached: Vec<Mark>,
    /// What was decoded although control was not seen to come there; empty at first.
    swept: Vec<Mark>,
}

impl<'e> Region<'e> {
    pub(super) fn new(range: CodeRange, code: &'e [u8]) -> Region<'e> {
        let reached = vec![Mark::Unreached; code.len()];
        Region { range, code, may_be_data: false, reached, swept: Vec::new() }
    }

    /// Takes the region for data unless one of `entries` is in it. Without section headers, nothing says where the code of a
    /// segment ends, and linkers put read-only data beside it.
    pub(super) fn doubt_without(&mut self, entries: &BTreeSet<u64>) {
        let CodeRange { start, end } = self.range;
        self.may_be_data = entries.range(start.address..end).next().is_none();
    }

    /// The offset of an address.
    pub(super) fn offset(&self, address: u64) -> Option<usize> {
        usize::try_from(address.checked_sub(self.range.start.address)?).ok()
    }

    /// The address at an offset.
    pub(super) const fn address(&self, offset: usize) -> u64 {
        self.range.start.address.saturating_add(offset as u64)
    }

    /// What was reached at an offset; `None` at the end.
    pub(super) fn mark(&self, offset: usize) -> Option<Mark> {
        self.reached.get(offset).copied()
    }

    /// What was reached at each offset.
    pub(super) fn marks(&self) -> impl Iterator<Item = (usize, Mark)> {
        self.reached.iter().copied().enumerate()
    }

    /// Notes an instruction that control reaches. Returns the offset of its end.
    pub(super) fn reach(&mut self, offset: usize, length: u8, mark: Mark) -> usize {
        note(&mut self.reached, offset, length, mark)
    }

    /// Notes an instruction that control was not seen to reach. Returns the offset of its end.
    pub(super) fn sweep(&mut self, offset: usize, length: u8, mark: Mark) -> usize {
        self.swept.resize(self.code.len(), Mark::Unreached);
        note(&mut self.swept, offset, length, mark)
    }

    /// What is known about the byte before an offset, reached or not.
    fn last_mark(&self, end: usize) -> Option<Mark> {
        let last = end.checked_sub(1)?;
        let reached = self.reached.get(last).copied().filter(|mark| *mark != Mark::Unreached);
        reached.or_else(|| self.swept.get(last).copied())
    }

    /// What is before an address.
    pub(super) fn before(&self, address: u64, machine: Machine) -> Before {
        let Some(place) = self.offset(address) else { return Before::Unknown };
        let (mut end, mut is_filled) = (place, false);
        while place.saturating_sub(end) < MOST_FILLING {
            let mut start = end;
            let mark = loop {
                let mark = self.last_mark(start);
                start = start.saturating_sub(1);
                if mark != Some(Mark::Inside) {
                    break mark;
                }
            };
            match mark {
                Some(Mark::JumpsByRegister) if !is_filled => return Before::JumpsByRegister,
                Some(Mark::Ends | Mark::JumpsByRegister) => return Before::Ends,
                Some(Mark::Calls) => return Before::MayEnd,
                None => return Before::Unknown,
                _ if self.is_filling(start, end, machine) => (end, is_filled) = (start, true),
                Some(Mark::Continues) if is_filled => return Before::MayEnd,
                Some(Mark::Continues | Mark::Inside) => return Before::Continues,
                Some(Mark::Unreached) => return Before::Unknown,
            }
        }
        Before::Unknown
    }

    /// Whether the code between two offsets is filling.
    fn is_filling(&self, from: usize, to: usize, machine: Machine) -> bool {
        let code = self.code.get(from..to).unwrap_or_default();
        let mut paddings = Paddings::after(Filling::End);
        machine.search_padding(code, &mut paddings);
        paddings.found().first() == Some(&(0..code.len()))
    }
}

/// Notes an instruction. Returns the offset of its end.
fn note(marks: &mut [Mark], offset: usize, length: u8, mark: Mark) -> usize {
    let end = offset.saturating_add(usize::from(length).max(1)).min(marks.len());
    let bytes = marks.get_mut(offset..end).unwrap_or_default();
    bytes.fill(Mark::Inside);
    bytes.iter_mut().take(1).for_each(|first| *first = mark);
    end
}
