//! The instruction that made a frame what it is.

use super::Flow;
use crate::code::effect::{Next, Registers};
use crate::code::statement::{Facts, Known};

/// The maximum distance in bytes of an instruction from the one before which the frame is as it left it.
const FARTHEST: u64 = 256;

/// An instruction, and what is known before it.
struct Reached {
    start: u64,
    end: u64,
    known: Known,
}

impl Flow<'_> {
    /// The last instruction on the way to `address` that changed the frame. `None` if it is not known: a jump leads there, or the
    /// way is too long.
    pub(in crate::code) fn change_before(&mut self, address: u64) -> Option<u64> {
        let range = address.saturating_sub(FARTHEST)..address.saturating_add(1);
        let (mut way, abi): (Vec<Reached>, _) = (Vec::new(), self.abi);
        let one = |start: u64| start.saturating_add(1);
        self.visit(range, Registers::ALL, one, |start, end, state| {
            way.push(Reached { start, end, known: Facts { state, abi }.known() });
        });
        for pair in way.windows(2).rev() {
            let [before, after] = pair else { return None };
            if before.end != after.start || !self.goes_on(before.start) {
                return None;
            }
            if before.known != after.known {
                return Some(before.start);
            }
        }
        None
    }

    /// Whether execution may continue after the instruction at an address.
    fn goes_on(&self, address: u64) -> bool {
        let step = self.listing.step_at(address).and_then(|step| self.listing.step(step));
        step.is_some_and(|step| match step.next {
            Next::Following | Next::Branch(..) => true,
            Next::Call(_) | Next::IndirectCall => !step.is_final,
            Next::Jump(_) | Next::Indirect(_) | Next::Return | Next::Stop => false,
        })
    }
}
