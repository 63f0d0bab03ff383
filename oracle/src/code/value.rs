//! What may be known about the content of a register or a stack slot.

mod packed;

use super::effect::{Key, Number};
pub(super) use packed::Packed;

/// The content of a register or a stack slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Value {
    /// Nothing is known.
    Unknown,
    /// The value that the register had at the function's entry; for RA, the return address.
    Entry(Number),
    /// The return address, signed.
    Signed(Key),
    /// A number.
    Constant(i64),
    /// A number from 0 to this one.
    AtMost(u32),
    /// The distance in bytes of an element from the start of its array.
    Distance(Distance),
    /// An address relative to a base.
    Address(Place),
    /// An element of a jump table, by the table's number.
    Element(u32),
    /// The address to which a jump table leads, by the table's number.
    Target(u32),
}

/// An address relative to a base whose own value is unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) base: Base,
    /// Bytes from the base.
    pub(super) offset: i32,
}

/// The size of an array's elements, times the index of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Distance {
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
    /// The value that the instruction at this place rounded down.
    Aligned(u32),
}

impl Value {
    pub(super) const CFA: Value = Value::cfa(0);

    /// The address `offset` bytes from the CFA.
    pub(super) const fn cfa(offset: i32) -> Value {
        Value::Address(Place { base: Base::Cfa, offset })
    }

    /// The value plus a number of bytes.
    pub(super) fn plus(self, bytes: i64) -> Value {
        match self {
            Value::Address(place) => place.plus(bytes).map_or(Value::Unknown, Value::Address),
            Value::Constant(number) => Value::Constant(number.wrapping_add(bytes)),
            other if bytes == 0 => other,
            _ => Value::Unknown,
        }
    }

    /// The highest number that it may be, if something limits it.
    pub(super) const fn most(self) -> Option<u32> {
        match self {
            Value::AtMost(most) => Some(most),
            _ => None,
        }
    }

    pub(super) const fn place(self) -> Option<Place> {
        match self {
            Value::Address(place) => Some(place),
            _ => None,
        }
    }
}

impl Place {
    pub(super) fn plus(self, bytes: i64) -> Option<Place> {
        let offset = i64::from(self.offset).checked_add(bytes)?;
        Some(Place { offset: i32::try_from(offset).ok()?, ..self })
    }
}
