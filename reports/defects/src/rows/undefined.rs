//! Return addresses that CFI calls undefined, although they are where CFI has them right after.
//!
//! `undefined-for-good` makes such a mistake last to the end of the function. It is a mistake of the directives' author all the
//! same.

use sframe_oracle::code::{Program, Truth};
use sframe_validator::Abi;
use sframe_validator::unwind::{CodeAddress, Frame, Recovery, Row};

use super::RowDefects;
use super::modelled::Modelled;

/// The number of places of a function that are looked at.
const MOST: usize = 16;
/// The size in bytes of the longest ending that is looked at.
const LONGEST: u64 = 5;

impl<'r, 'c: 'r> RowDefects<'r, 'c> {
    /// Whether the code refutes that the return address is undefined, somewhere in the function that differed last.
    pub(super) fn is_undefined_wrongly(&mut self) -> bool {
        let Some(mut modelled) = self.last.take() else { return false };
        let is_wrong = modelled.is_undefined_wrongly.unwrap_or_else(|| self.refutes(&modelled));
        modelled.is_undefined_wrongly = Some(is_wrong);
        self.last = Some(modelled);
        is_wrong
    }

    fn refutes(&mut self, modelled: &Modelled<'c>) -> bool {
        let start = modelled.fde.start();
        let ends = modelled.rows.windows(2).filter_map(|rows| match rows {
            [row, next] if is_end(row, next) => Some((*row, *next)),
            _ => None,
        });
        let ends = ends.take(MOST).filter(|(row, _)| self.falls_through(start, row));
        let ends: Vec<(Row, Row)> = ends.collect();
        if ends.is_empty() {
            return false;
        }
        let (elf, sections, cfi) = (self.elf, self.sections, self.cfi);
        let code = self.code.get_or_insert_with(|| Program::of(elf, sections, cfi));
        let Some(mut function) = code.as_ref().and_then(|code| code.function(start)) else {
            return false;
        };
        let mut proves = |address: u64, frame: &Frame| {
            function.at(address, |facts| facts.judge(frame).ra) == Some(Truth::Proven)
        };
        ends.iter().any(|(row, next)| {
            let as_after = Frame { ra: next.frame.ra, ..row.frame };
            proves(row.start, &as_after) && proves(next.start, &next.frame)
        })
    }

    /// Whether the last instruction of a row leads to the one after it. It does not if its last bytes may belong to one that does not.
    fn falls_through(&self, function: CodeAddress, row: &Row) -> bool {
        let from = row.end.saturating_sub(LONGEST).max(function.address);
        let place = CodeAddress { address: from, ..function };
        let Some(code) = self.elf.code_bytes(place, row.end.saturating_sub(from)) else {
            return false;
        };
        match self.elf.abi() {
            Some(Abi::Amd64) => !may_end_path(code),
            Some(abi) if abi.is_aarch64() => {
                let word = code.last_chunk().map(|word| u32::from_le_bytes(*word));
                word.is_some_and(|word| !is_branch_or_trap(word))
            }
            _ => false,
        }
    }
}

fn is_end(row: &Row, next: &Row) -> bool {
    row.frame.ra == Recovery::Undefined
        && next.frame.ra != Recovery::Undefined
        && row.end == next.start
}

/// Whether bytes may end with an AMD64 instruction after which control does not go on: `hlt`, `int3`, `ret`, `ud2`, `syscall`,
/// a jump, or a call of a function that does not return.
fn may_end_path(code: &[u8]) -> bool {
    let before_end = |bytes: usize| {
        let place = code.len().checked_sub(bytes)?;
        code.get(place).copied()
    };
    let last_two = code.last_chunk::<2>();
    matches!(before_end(1), Some(0xf4 | 0xcc | 0xc3))
        || matches!(last_two, Some([0x0f, 0x0b | 0x05] | [0xeb | 0xff, _]))
        || matches!(before_end(5), Some(0xe8 | 0xe9))
}

/// Whether an AArch64 instruction is a branch, a return, a call, or one that raises an exception: C4.1 of the Arm Architecture
/// Reference Manual, "Branches, Exception Generating and System instructions", or `udf`.
const fn is_branch_or_trap(word: u32) -> bool {
    let is_immediate = word & 0x7c00_0000 == 0x1400_0000;
    let is_register = word & 0xfe00_0000 == 0xd600_0000;
    let is_exception = word & 0xff00_0000 == 0xd400_0000;
    is_immediate || is_register || is_exception || word & 0xffff_0000 == 0
}
