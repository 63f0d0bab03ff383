//! The instructions of a function with the offsets at which they take effect.

use sframe_oracle::cfi::{Fde, Instruction, Instructions};
use sframe_validator::unwind::CodeAddress;

use super::Reason;

/// Iterates over instructions and the offset in the function at which each takes effect. Advances only change the
/// offset, and padding is skipped. The first error is the last item.
#[derive(Debug)]
pub(super) struct Placed<'c> {
    instructions: Instructions<'c>,
    code_factor: u64,
    alignment: u64,
    start: CodeAddress,
    size: u64,
    at: u64,
    failed: bool,
}

impl<'c> Placed<'c> {
    pub(super) fn of(fde: &Fde<'c>) -> Placed<'c> {
        Placed {
            instructions: fde.instructions(),
            code_factor: fde.cie().code_alignment_factor,
            alignment: match fde.cfi().abi().is_aarch64() {
                // The factor by which assemblers divide advances (observed: 1 also on s390x).
                true => 4,
                false => 1,
            },
            start: fde.start(),
            size: fde.size(),
            at: 0,
            failed: false,
        }
    }

    fn advance(&mut self, to: Option<u64>) -> Result<(), Reason> {
        let to = to.filter(|to| *to <= self.size).ok_or(Reason::PastEnd)?;
        if !to.is_multiple_of(self.alignment) {
            return Err(Reason::Unaligned);
        }
        self.at = to;
        Ok(())
    }

    fn set_loc(&mut self, to: CodeAddress) -> Result<(), Reason> {
        let offset = to.address.checked_sub(self.start.address);
        let offset = offset.filter(|to| *to >= self.at).ok_or(Reason::Unreadable)?;
        if to.section != self.start.section {
            return Err(Reason::Unreadable);
        }
        self.advance(Some(offset))
    }
}

impl Iterator for Placed<'_> {
    type Item = Result<(u64, Instruction), Reason>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.failed {
            let moved = match self.instructions.next()? {
                Ok(Instruction::AdvanceLoc(by)) => {
                    let by = by.checked_mul(self.code_factor);
                    self.advance(by.and_then(|by| self.at.checked_add(by)))
                }
                Ok(Instruction::SetLoc(to)) => self.set_loc(to),
                Ok(Instruction::Nop) => Ok(()),
                Ok(other) => return Some(Ok((self.at, other))),
                Err(_) => Err(Reason::Unreadable),
            };
            if let Err(reason) = moved {
                self.failed = true;
                return Some(Err(reason));
            }
        }
        None
    }
}
