//! Values in 8 bytes.

use super::{Base, Distance, Place, Value};
use crate::code::effect::Key;

/// A [`Value`] in 8 bytes: states are copied and compared for each block, and consist of values.
///
/// Numbers that do not fit are unknown: constants of more than 56 bits, which are no addresses, and distances of more than 8 MiB
/// from an aligned address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::code) struct Packed(u64);

/// The bits of the kind; the rest is its content.
const KIND: u32 = 8;
const KIND_MASK: u64 = (1 << KIND) - 1;

const UNKNOWN: u64 = 0;
const ENTRY: u64 = 1;
const SIGNED: u64 = 2;
const CONSTANT: u64 = 3;
const AT_MOST: u64 = 4;
const FROM_CFA: u64 = 5;
const FROM_ALIGNED: u64 = 6;
const ELEMENT: u64 = 7;
const TARGET: u64 = 8;
const DISTANCE: u64 = 9;
const LIMITED_DISTANCE: u64 = 10;

impl Packed {
    pub(in crate::code) const UNKNOWN: Packed = Packed(UNKNOWN);

    pub(in crate::code) const fn is_unknown(self) -> bool {
        self.0 == UNKNOWN
    }

    /// The place that the value is the address of.
    #[allow(clippy::cast_possible_truncation, reason = "the content of this kind fits")]
    pub(in crate::code) fn place(self) -> Option<Place> {
        match self.0 & KIND_MASK {
            FROM_CFA => {
                Some(Place { base: Base::Cfa, offset: (self.0.cast_signed() >> 32) as i32 })
            }
            FROM_ALIGNED => Value::from(self).place(),
            _ => None,
        }
    }

    /// Whether the value belongs to the caller, or leads to it: such values matter in a stack slot.
    pub(in crate::code) const fn is_worth_saving(self) -> bool {
        matches!(self.0 & KIND_MASK, ENTRY | SIGNED | FROM_CFA | FROM_ALIGNED)
    }

    /// Whether the value is the one that a register had at the entry.
    pub(in crate::code) const fn is_callers(self) -> bool {
        matches!(self.0 & KIND_MASK, ENTRY | SIGNED)
    }

    /// The value plus a number of bytes: see [`Value::plus`].
    pub(in crate::code) fn plus(self, bytes: i64) -> Packed {
        match self.0 & KIND_MASK {
            _ if bytes == 0 => self,
            UNKNOWN => self,
            FROM_CFA => {
                let offset = (self.0.cast_signed() >> 32).checked_add(bytes).unwrap_or(i64::MAX);
                Packed::from_cfa(offset)
            }
            _ => Value::from(self).plus(bytes).into(),
        }
    }

    /// What is true of both values.
    pub(in crate::code) fn join(self, other: Packed) -> Packed {
        if self == other {
            return self;
        }
        match (self.into(), other.into()) {
            (Value::AtMost(a), Value::AtMost(b)) => Value::AtMost(a.max(b)).into(),
            _ => Packed::UNKNOWN,
        }
    }

    /// The distance in bytes from another address, if both are relative to the same base.
    pub(in crate::code) const fn distance_from(self, other: Packed) -> Option<i64> {
        let bits = match self.0 & KIND_MASK {
            FROM_CFA => 32,
            FROM_ALIGNED => 24,
            _ => return None,
        };
        let has_same_base = (self.0 ^ other.0) << bits == 0;
        let unused = 64 - bits;
        if has_same_base {
            Some((self.0.cast_signed() >> unused) - (other.0.cast_signed() >> unused))
        } else {
            None
        }
    }

    /// The address at a distance from the CFA, if that fits.
    const fn from_cfa(offset: i64) -> Packed {
        Packed::signed(FROM_CFA, offset, 32, 0)
    }

    /// The distance of an address from the CFA, if that is its base.
    #[allow(clippy::cast_possible_truncation, reason = "the content of this kind fits")]
    pub(in crate::code) const fn offset_from_cfa(self) -> Option<i32> {
        if self.0 & KIND_MASK == FROM_CFA {
            Some((self.0.cast_signed() >> 32) as i32)
        } else {
            None
        }
    }

    const fn new(kind: u64, content: u64) -> Packed {
        Packed(content << KIND | kind)
    }

    /// A number with its sign, if it fits into `bits` bits.
    const fn signed(kind: u64, number: i64, bits: u32, rest: u64) -> Packed {
        let unused = 64 - bits;
        if number << unused >> unused != number {
            return Packed::UNKNOWN;
        }
        Packed::new(kind, number.cast_unsigned() << (64 - KIND - bits) | rest)
    }
}

impl From<Value> for Packed {
    fn from(value: Value) -> Packed {
        match value {
            Value::Unknown => Packed::UNKNOWN,
            Value::Entry(register) => Packed::new(ENTRY, register.into()),
            Value::Signed(Key::A) => Packed::new(SIGNED, 0),
            Value::Signed(Key::B) => Packed::new(SIGNED, 1),
            Value::Constant(number) => Packed::signed(CONSTANT, number, 56, 0),
            Value::AtMost(number) => Packed::new(AT_MOST, number.into()),
            Value::Distance(Distance { size, most: None }) => Packed::new(DISTANCE, size.into()),
            Value::Distance(Distance { size, most: Some(most) }) => {
                Packed::new(LIMITED_DISTANCE, u64::from(most) << 8 | u64::from(size))
            }
            Value::Address(Place { base: Base::Cfa, offset }) => Packed::from_cfa(offset.into()),
            Value::Address(Place { base: Base::Aligned(place), offset }) => {
                Packed::signed(FROM_ALIGNED, offset.into(), 24, place.into())
            }
            Value::Element(table) => Packed::new(ELEMENT, table.into()),
            Value::Target(table) => Packed::new(TARGET, table.into()),
        }
    }
}

impl From<Packed> for Value {
    #[allow(clippy::cast_possible_truncation, reason = "the content of these kinds fits")]
    fn from(Packed(packed): Packed) -> Value {
        let content = packed >> KIND;
        let signed = |bits: u32| packed.cast_signed() >> (64 - bits);
        match packed & KIND_MASK {
            ENTRY => Value::Entry(content as u8),
            SIGNED => Value::Signed(if content == 0 { Key::A } else { Key::B }),
            CONSTANT => Value::Constant(signed(56)),
            AT_MOST => Value::AtMost(content as u32),
            DISTANCE => Value::Distance(Distance { size: content as u8, most: None }),
            LIMITED_DISTANCE => {
                let most = Some((content >> 8) as u32);
                Value::Distance(Distance { size: content as u8, most })
            }
            FROM_CFA => Value::cfa(signed(32) as i32),
            FROM_ALIGNED => {
                let base = Base::Aligned(content as u32);
                Value::Address(Place { base, offset: signed(24) as i32 })
            }
            ELEMENT => Value::Element(content as u32),
            TARGET => Value::Target(content as u32),
            _ => Value::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_fit_are_preserved() {
        let aligned = |place, offset| Value::Address(Place { base: Base::Aligned(place), offset });
        let values = [
            Value::Unknown,
            Value::Entry(0),
            Value::Entry(33),
            Value::Signed(Key::A),
            Value::Signed(Key::B),
            Value::Constant(0),
            Value::Constant(-1),
            Value::Constant((1 << 55) - 1),
            Value::Constant(-1 << 55),
            Value::Constant(0xffff_ffff_8100_0000_u64.cast_signed()),
            Value::AtMost(u32::MAX),
            Value::Distance(Distance { size: 8, most: None }),
            Value::Distance(Distance { size: u8::MAX, most: Some(u32::MAX) }),
            Value::Distance(Distance { size: 4, most: Some(0) }),
            Value::cfa(i32::MIN),
            Value::cfa(i32::MAX),
            aligned(0, (1 << 23) - 1),
            aligned(u32::MAX, -1 << 23),
            Value::Element(u32::MAX),
            Value::Target(u32::MAX),
        ];
        for value in values {
            assert_eq!(Value::from(Packed::from(value)), value);
        }
        for (a, b) in values.iter().zip(values.iter().skip(1)) {
            assert_ne!(Packed::from(*a), Packed::from(*b));
        }
    }

    /// The sum of packed values is the packed sum.
    #[test]
    fn bytes_are_added_to_packed_values() {
        let aligned = Value::Address(Place { base: Base::Aligned(7), offset: -16 });
        let values = [
            Value::Unknown,
            Value::Entry(3),
            Value::Signed(Key::B),
            Value::Constant(-8),
            Value::AtMost(5),
            Value::Distance(Distance { size: 4, most: Some(5) }),
            Value::cfa(0),
            Value::cfa(i32::MAX),
            Value::cfa(i32::MIN),
            aligned,
            Value::Element(1),
            Value::Target(2),
        ];
        for value in values {
            for bytes in [0, 8, -8, 1 << 23, i64::from(i32::MIN), i64::MAX, i64::MIN] {
                let sum = Packed::from(value.plus(bytes));
                assert_eq!(Packed::from(value).plus(bytes), sum, "{value:?} + {bytes}");
            }
        }
    }

    /// Distances of packed addresses are those of the addresses.
    #[test]
    fn distances_need_the_same_base() {
        let aligned = |place, offset| Value::Address(Place { base: Base::Aligned(place), offset });
        let values = [
            Value::Unknown,
            Value::Constant(0),
            Value::cfa(0),
            Value::cfa(i32::MIN),
            Value::cfa(i32::MAX),
            aligned(0, 0),
            aligned(7, -16),
            aligned(7, (1 << 23) - 1),
            aligned(u32::MAX, -1 << 23),
        ];
        for (a, b) in values.into_iter().flat_map(|a| values.map(|b| (a, b))) {
            let distance = match (a.place(), b.place()) {
                (Some(a), Some(b)) if a.base == b.base => {
                    Some(i64::from(a.offset) - i64::from(b.offset))
                }
                _ => None,
            };
            assert_eq!(Packed::from(a).distance_from(b.into()), distance, "{a:?} {b:?}");
        }
    }

    #[test]
    fn values_that_do_not_fit_are_unknown() {
        let aligned = |offset| Value::Address(Place { base: Base::Aligned(1), offset });
        for value in [
            Value::Constant(1 << 55),
            Value::Constant((-1 << 55) - 1),
            aligned(1 << 23),
            aligned((-1 << 23) - 1),
        ] {
            assert!(Packed::from(value).is_unknown(), "{value:?}");
        }
    }
}
