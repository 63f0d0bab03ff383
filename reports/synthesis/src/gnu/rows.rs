//! Where GNU as starts a row.
//!
//! It looks at instructions and not at values. A row starts at each place with an instruction that it tracks, even if
//! the frame stays the same, and one more at the last advance, whatever follows.

use sframe_oracle::cfi::{Fde, Instruction};
use sframe_validator::Abi;
use sframe_validator::unwind::{CodeAddress, Register, Row};

use super::Release;

/// Divides a function's rows at the places where the release starts one.
pub(super) fn divide(fde: &Fde<'_>, rows: &[Row], release: Release) -> Vec<Row> {
    let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return Vec::new() };
    let mut divided: Vec<Row> = Vec::new();
    let mut frames = rows.iter().peekable();
    let mut frame = first.frame;
    let mut add = |start: u64| {
        while let Some(row) = frames.next_if(|row| row.start <= start) {
            frame = row.frame;
        }
        if let Some(before) = divided.last_mut() {
            before.end = start;
        }
        divided.push(Row { start, end: last.end, frame });
    };
    starts(fde, release, &mut add);
    divided
}

/// Passes the starts of rows to `add`, in ascending order.
fn starts(fde: &Fde<'_>, release: Release, add: &mut impl FnMut(u64)) {
    let tracked = Tracked { release, abi: fde.cfi().abi() };
    let (mut location, mut started) = (fde.start().address, None);
    add(location);
    let mut start = |location: u64, started: &mut Option<u64>| {
        if location > started.unwrap_or(fde.start().address) {
            *started = Some(location);
            add(location);
        }
    };
    let factor = fde.cie().code_alignment_factor;
    for instruction in fde.instructions().map_while(Result::ok) {
        match instruction {
            Instruction::AdvanceLoc(delta) => {
                location = location.saturating_add(delta.saturating_mul(factor));
            }
            Instruction::SetLoc(CodeAddress { address, .. }) => location = location.max(address),
            other if tracked.is_relevant(&other) => start(location, &mut started),
            _ => {}
        }
    }
    start(location, &mut started);
}

/// The instructions that a release tracks.
struct Tracked {
    release: Release,
    abi: Abi,
}

impl Tracked {
    fn is_relevant(&self, instruction: &Instruction) -> bool {
        let latest = self.release == Release::V2_47_50;
        match *instruction {
            Instruction::DefCfa(..)
            | Instruction::DefCfaSf(..)
            | Instruction::DefCfaRegister(_)
            | Instruction::DefCfaOffset(_)
            | Instruction::DefCfaOffsetSf(_)
            | Instruction::DefCfaExpression(_)
            | Instruction::RestoreState
            | Instruction::NegateRaState => true,
            Instruction::Offset(register, _)
            | Instruction::OffsetSf(register, _)
            | Instruction::NegativeOffset(register, _) => {
                self.is_saved(register) || latest && register == self.abi.ra()
            }
            Instruction::Restore(register) => self.is_saved(register),
            Instruction::SameValue(register) => latest && self.is_saved(register),
            Instruction::Undefined(register) => latest && register == self.abi.ra(),
            Instruction::Register(register, _) | Instruction::Expression(register, _) => {
                latest && (register == self.abi.fp() || register == self.abi.ra())
            }
            _ => false,
        }
    }

    /// Whether the register is FP, or RA if the ABI does not fix its place.
    fn is_saved(&self, register: Register) -> bool {
        register == self.abi.fp() || register == self.abi.ra() && self.abi.fixed_ra_offset() == 0
    }
}
