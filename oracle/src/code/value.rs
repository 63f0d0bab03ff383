//! The lattice of abstract values.

mod packed;

use super::effect::{Key, RegisterNumber};
pub(super) use packed::PackedValue;

/// An abstract value: what is known about the content of a register or a stack slot.
///
/// These form a flat lattice. [`AbstractValue::Unknown`] is its top. There is no bottom: a block that is not reached has
/// no state. The join of two different values is the top, except for numbers with a maximum, whose join has the higher
/// one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AbstractValue {
    /// The top: nothing is known.
    Unknown,
    /// The value that the register had at the function's entry; for RA, the return address.
    Entry(RegisterNumber),
    /// Something else than the entry value of the register that holds it, which was saved before it was overwritten.
    Overwritten,
    /// The return address, signed.
    Signed(Key),
    /// A number.
    Constant(i64),
    /// An interval: a number from 0 to this one.
    AtMost(u32),
    /// An index times the size of an element.
    ScaledIndex(ScaledIndex),
    /// An address relative to a base.
    Address(BasedAddress),
    /// An element of a jump table, by the table's number.
    Element(u32),
    /// A target of a jump table, by the table's number.
    Target(u32),
}

/// An address relative to a base whose own value is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BasedAddress {
    pub(super) base: Base,
    /// Bytes from the base.
    pub(super) offset: i32,
}

/// An index times the size of an element: the distance in bytes of an element from the start of its array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ScaledIndex {
    /// The size of an element in bytes.
    pub(super) size: u8,
    /// The maximum index, if something limits it.
    pub(super) most: Option<u32>,
}

/// What addresses are relative to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    /// The canonical frame address.
    Cfa,
    /// The CFA plus this number of lengths of predicates, which is not 0 (AArch64).
    Scalable(i16),
    /// SP when a signal handler has returned.
    SignalFrame,
    /// The value that a register had at the entry, to which SP was set: another stack, or another frame.
    OtherStack(RegisterNumber),
    /// The result of the instruction here, which rounded an address down.
    Aligned(u32),
}

impl AbstractValue {
    pub(super) const CFA: AbstractValue = AbstractValue::cfa(0);

    /// The address `offset` bytes from the CFA.
    pub(super) const fn cfa(offset: i32) -> AbstractValue {
        AbstractValue::Address(BasedAddress { base: Base::Cfa, offset })
    }

    /// The abstract sum of the value and a number of bytes.
    pub(super) fn plus(self, bytes: i64) -> AbstractValue {
        match self {
            AbstractValue::Address(place) => {
                place.plus(bytes).map_or(AbstractValue::Unknown, AbstractValue::Address)
            }
            AbstractValue::Constant(number) => AbstractValue::Constant(number.wrapping_add(bytes)),
            other if bytes == 0 => other,
            _ => AbstractValue::Unknown,
        }
    }

    /// The abstract sum of the value and a number of lengths of predicates.
    pub(super) fn plus_predicates(self, number: i16) -> AbstractValue {
        let AbstractValue::Address(BasedAddress { base, offset }) = self else {
            return AbstractValue::Unknown;
        };
        let before = match base {
            Base::Cfa => 0,
            Base::Scalable(before) => before,
            Base::SignalFrame | Base::OtherStack(_) | Base::Aligned(_) => {
                return AbstractValue::Unknown;
            }
        };
        match before.checked_add(number) {
            None => AbstractValue::Unknown,
            Some(0) => AbstractValue::cfa(offset),
            Some(sum) => AbstractValue::Address(BasedAddress { base: Base::Scalable(sum), offset }),
        }
    }

    /// The highest number that it may be, if something limits it.
    pub(super) const fn most(self) -> Option<u32> {
        match self {
            AbstractValue::AtMost(most) => Some(most),
            _ => None,
        }
    }

    /// The address, if it is one relative to a base.
    pub(super) const fn address(self) -> Option<BasedAddress> {
        match self {
            AbstractValue::Address(place) => Some(place),
            _ => None,
        }
    }
}

impl BasedAddress {
    /// Whether the address may be the CFA.
    pub(super) fn may_be_cfa(self) -> bool {
        /// The bytes of the shortest predicates, and the number of their lengths: vectors have 16 to 256 bytes, in steps of 16.
        const SHORTEST: i64 = 2;
        const LENGTHS: i64 = 16;
        match self.base {
            Base::Cfa => self.offset == 0,
            Base::Scalable(predicates) => (1..=LENGTHS).any(|multiple| {
                i64::from(self.offset) + i64::from(predicates) * SHORTEST * multiple == 0
            }),
            // Nothing that the caller knows is in the frame of a signal.
            Base::SignalFrame => false,
            Base::Aligned(_) | Base::OtherStack(_) => true,
        }
    }

    pub(super) fn plus(self, bytes: i64) -> Option<BasedAddress> {
        let offset = i64::from(self.offset).checked_add(bytes)?;
        Some(BasedAddress { offset: i32::try_from(offset).ok()?, ..self })
    }
}
