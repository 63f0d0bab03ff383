//! What relocations put into the effects of instructions.

use sframe_validator::unwind::CodeAddress;

use super::{CodeRelocations, FIELD, RelocationTarget};
use crate::code::effect::{Effect, NO_REGISTER, SCRATCH};

/// The offset of an address from its page (AArch64).
const IN_PAGE: u64 = 0xfff;

/// The number in a relocated field.
enum Operand {
    /// The address of a place, or of the page that contains it.
    Address(u64),
    /// A part of an address.
    Part(i32),
    Unknown,
}

impl CodeRelocations {
    /// The place in the same file that an instruction of `length` bytes refers to.
    pub(in crate::code) fn reference(&self, place: CodeAddress, length: u8) -> Option<CodeAddress> {
        let (field, target) = self.field(place, length)?;
        let to = target.place()?;
        // AMD64 counts from the end of the instruction. On AArch64, the field is the instruction.
        let end = place.address.wrapping_add(u64::from(length));
        let after = match target {
            RelocationTarget::Place(_) => end.wrapping_sub(field.address).wrapping_sub(FIELD),
            _ => 0,
        };
        Some(CodeAddress { address: to.address.wrapping_add(after), ..to })
    }

    /// Puts what relocations say into the effects of an instruction of `length` bytes. `flat` gives the address of a place.
    pub(in crate::code) fn relocate(
        &self,
        place: CodeAddress,
        length: u8,
        effects: &mut [Effect],
        flat: impl Fn(CodeAddress) -> Option<u64>,
    ) {
        let Some(target) = self.target(place, length) else { return };
        let address = self.reference(place, length).and_then(flat);
        let operand = match (target, address) {
            (RelocationTarget::Page(_), Some(address)) => Operand::Address(address & !IN_PAGE),
            (RelocationTarget::InPage(_), Some(address)) => {
                i32::try_from(address & IN_PAGE).map_or(Operand::Unknown, Operand::Part)
            }
            (_, Some(address)) => Operand::Address(address),
            (_, None) => Operand::Unknown,
        };
        for effect in relocated(effects) {
            *effect = operand.within(*effect);
        }
    }
}

/// The effects of an instruction that may contain its relocated field: a push or pop moves the stack pointer without one.
fn relocated(effects: &mut [Effect]) -> &mut [Effect] {
    let moves_stack = matches!(
        effects,
        [.., Effect::Copy { to, from, .. }, Effect::Store { base, .. }]
            if to == from && (base == to || *base == NO_REGISTER)
    );
    let count = effects.len().saturating_sub(if moves_stack { 2 } else { 0 });
    effects.get_mut(..count).unwrap_or_default()
}

impl Operand {
    /// An effect with this number in place of the one in the file.
    fn within(&self, effect: Effect) -> Effect {
        match (effect, self) {
            (Effect::Constant { to, .. }, Operand::Address(address)) => {
                Effect::Constant { to, value: address.cast_signed() }
            }
            (Effect::Copy { to, from, .. }, Operand::Part(plus)) => {
                Effect::Copy { to, from, plus: *plus }
            }
            (Effect::Load { to, base, .. }, Operand::Part(offset)) if base != NO_REGISTER => {
                Effect::Load { to, base, offset: *offset }
            }
            (
                Effect::Element { to, base: NO_REGISTER, index, scale, size, extension, .. },
                Operand::Address(at),
            ) => match i32::try_from(*at) {
                Ok(offset) => {
                    Effect::Element { to, base: NO_REGISTER, offset, index, scale, size, extension }
                }
                Err(_) => Effect::Copy { to, from: NO_REGISTER, plus: 0 },
            },
            // The load follows a constant, which is the address.
            (Effect::Load { base: SCRATCH, .. }, _) => effect,
            (
                Effect::Constant { to, .. }
                | Effect::Copy { to, .. }
                | Effect::Scale { to, .. }
                | Effect::Load { to, .. }
                | Effect::Element { to, .. },
                _,
            ) => Effect::Copy { to, from: NO_REGISTER, plus: 0 },
            (Effect::Store { from, size, .. }, _) => {
                Effect::Store { from, base: NO_REGISTER, offset: 0, size }
            }
            (Effect::CompareNumber { .. }, _) => Effect::Forget,
            _ => effect,
        }
    }
}
