//! Abstract values in 8 bytes.

use super::{AbstractValue, Base, BasedAddress, ScaledIndex};
use crate::code::effect::{Key, RegisterNumber};

/// A [`AbstractValue`] in 8 bytes: states are copied and compared for each block, and consist of values.
///
/// Numbers that do not fit are unknown: constants of more than 56 bits, which are no addresses, and distances of more
/// than 8 MiB from an aligned address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::code) struct PackedValue(u64);

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
const OVERWRITTEN: u64 = 11;
const FROM_SIGNAL_FRAME: u64 = 12;
const FROM_SCALABLE: u64 = 13;
const FROM_OTHER_STACK: u64 = 14;

impl PackedValue {
    pub(in crate::code) const UNKNOWN: PackedValue = PackedValue(UNKNOWN);

    /// See [`AbstractValue::Overwritten`].
    pub(in crate::code) const OVERWRITTEN: PackedValue = PackedValue(OVERWRITTEN);

    pub(in crate::code) const fn is_unknown(self) -> bool {
        self.0 == UNKNOWN
    }

    /// The address, if it is one relative to a base.
    #[allow(clippy::cast_possible_truncation, reason = "the content of this kind fits")]
    pub(in crate::code) fn address(self) -> Option<BasedAddress> {
        match self.0 & KIND_MASK {
            FROM_CFA => {
                Some(BasedAddress { base: Base::Cfa, offset: (self.0.cast_signed() >> 32) as i32 })
            }
            FROM_ALIGNED | FROM_SIGNAL_FRAME | FROM_SCALABLE | FROM_OTHER_STACK => {
                AbstractValue::from(self).address()
            }
            _ => None,
        }
    }

    /// Whether the value belongs to the caller, or leads to it: such values matter in a stack slot.
    pub(in crate::code) const fn is_worth_saving(self) -> bool {
        matches!(
            self.0 & KIND_MASK,
            ENTRY
                | SIGNED
                | FROM_CFA
                | FROM_ALIGNED
                | FROM_SIGNAL_FRAME
                | FROM_SCALABLE
                | FROM_OTHER_STACK
        )
    }

    /// Whether the value is that of a register at the entry, or certainly not: code that is not known may change that.
    pub(in crate::code) const fn depends_on_entry(self) -> bool {
        matches!(self.0 & KIND_MASK, ENTRY | SIGNED | OVERWRITTEN)
    }

    /// The value plus a number of bytes: see [`AbstractValue::plus`].
    pub(in crate::code) fn plus(self, bytes: i64) -> PackedValue {
        match self.0 & KIND_MASK {
            _ if bytes == 0 => self,
            UNKNOWN => self,
            FROM_CFA => {
                let offset = (self.0.cast_signed() >> 32).checked_add(bytes).unwrap_or(i64::MAX);
                PackedValue::from_cfa(offset)
            }
            _ => AbstractValue::from(self).plus(bytes).into(),
        }
    }

    /// The join: what is true of both values.
    pub(in crate::code) fn join(self, other: PackedValue) -> PackedValue {
        if self == other {
            return self;
        }
        match (self.into(), other.into()) {
            (AbstractValue::AtMost(a), AbstractValue::AtMost(b)) => {
                AbstractValue::AtMost(a.max(b)).into()
            }
            _ => PackedValue::UNKNOWN,
        }
    }

    /// The distance in bytes from another address, if both are relative to the same base.
    pub(in crate::code) const fn distance_from(self, other: PackedValue) -> Option<i64> {
        let bits = match self.0 & KIND_MASK {
            FROM_CFA | FROM_SIGNAL_FRAME | FROM_SCALABLE | FROM_OTHER_STACK => 32,
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
    const fn from_cfa(offset: i64) -> PackedValue {
        PackedValue::signed(FROM_CFA, offset, 32, 0)
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

    const fn new(kind: u64, content: u64) -> PackedValue {
        PackedValue(content << KIND | kind)
    }

    /// A number with its sign, if it fits into `bits` bits.
    const fn signed(kind: u64, number: i64, bits: u32, rest: u64) -> PackedValue {
        let unused = 64 - bits;
        if number << unused >> unused != number {
            return PackedValue::UNKNOWN;
        }
        PackedValue::new(kind, number.cast_unsigned() << (64 - KIND - bits) | rest)
    }
}

impl From<AbstractValue> for PackedValue {
    fn from(value: AbstractValue) -> PackedValue {
        match value {
            AbstractValue::Unknown => PackedValue::UNKNOWN,
            AbstractValue::Overwritten => PackedValue(OVERWRITTEN),
            AbstractValue::Entry(register) => PackedValue::new(ENTRY, register.into()),
            AbstractValue::Signed(Key::A) => PackedValue::new(SIGNED, 0),
            AbstractValue::Signed(Key::B) => PackedValue::new(SIGNED, 1),
            AbstractValue::Constant(number) => PackedValue::signed(CONSTANT, number, 56, 0),
            AbstractValue::AtMost(number) => PackedValue::new(AT_MOST, number.into()),
            AbstractValue::ScaledIndex(ScaledIndex { size, most: None }) => {
                PackedValue::new(DISTANCE, size.into())
            }
            AbstractValue::ScaledIndex(ScaledIndex { size, most: Some(most) }) => {
                PackedValue::new(LIMITED_DISTANCE, u64::from(most) << 8 | u64::from(size))
            }
            AbstractValue::Address(BasedAddress { base: Base::Cfa, offset }) => {
                PackedValue::from_cfa(offset.into())
            }
            AbstractValue::Address(BasedAddress { base: Base::SignalFrame, offset }) => {
                PackedValue::signed(FROM_SIGNAL_FRAME, offset.into(), 32, 0)
            }
            AbstractValue::Address(BasedAddress { base: Base::Scalable(number), offset }) => {
                let number = number.cast_unsigned().into();
                PackedValue::signed(FROM_SCALABLE, offset.into(), 32, number)
            }
            AbstractValue::Address(BasedAddress { base: Base::OtherStack(from), offset }) => {
                PackedValue::signed(FROM_OTHER_STACK, offset.into(), 32, from.into())
            }
            AbstractValue::Address(BasedAddress { base: Base::Aligned(place), offset }) => {
                PackedValue::signed(FROM_ALIGNED, offset.into(), 24, place.into())
            }
            AbstractValue::Element(table) => PackedValue::new(ELEMENT, table.into()),
            AbstractValue::Target(table) => PackedValue::new(TARGET, table.into()),
        }
    }
}

impl From<PackedValue> for AbstractValue {
    #[allow(clippy::cast_possible_truncation, reason = "the content of these kinds fits")]
    fn from(PackedValue(packed): PackedValue) -> AbstractValue {
        let content = packed >> KIND;
        let signed = |bits: u32| packed.cast_signed() >> (64 - bits);
        match packed & KIND_MASK {
            ENTRY => AbstractValue::Entry(content as u8),
            OVERWRITTEN => AbstractValue::Overwritten,
            SIGNED => AbstractValue::Signed(if content == 0 { Key::A } else { Key::B }),
            CONSTANT => AbstractValue::Constant(signed(56)),
            AT_MOST => AbstractValue::AtMost(content as u32),
            DISTANCE => AbstractValue::ScaledIndex(ScaledIndex { size: content as u8, most: None }),
            LIMITED_DISTANCE => {
                let most = Some((content >> 8) as u32);
                AbstractValue::ScaledIndex(ScaledIndex { size: content as u8, most })
            }
            FROM_CFA => AbstractValue::cfa(signed(32) as i32),
            FROM_SIGNAL_FRAME => AbstractValue::Address(BasedAddress {
                base: Base::SignalFrame,
                offset: signed(32) as i32,
            }),
            FROM_SCALABLE => {
                let base = Base::Scalable((content as u16).cast_signed());
                AbstractValue::Address(BasedAddress { base, offset: signed(32) as i32 })
            }
            FROM_OTHER_STACK => {
                let base = Base::OtherStack(content as RegisterNumber);
                AbstractValue::Address(BasedAddress { base, offset: signed(32) as i32 })
            }
            FROM_ALIGNED => {
                let base = Base::Aligned(content as u32);
                AbstractValue::Address(BasedAddress { base, offset: signed(24) as i32 })
            }
            ELEMENT => AbstractValue::Element(content as u32),
            TARGET => AbstractValue::Target(content as u32),
            _ => AbstractValue::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_fit_are_preserved() {
        let aligned = |place, offset| {
            AbstractValue::Address(BasedAddress { base: Base::Aligned(place), offset })
        };
        let scalable = |number, offset| {
            AbstractValue::Address(BasedAddress { base: Base::Scalable(number), offset })
        };
        let values = [
            AbstractValue::Unknown,
            AbstractValue::Entry(0),
            AbstractValue::Entry(33),
            AbstractValue::Overwritten,
            AbstractValue::Signed(Key::A),
            AbstractValue::Signed(Key::B),
            AbstractValue::Constant(0),
            AbstractValue::Constant(-1),
            AbstractValue::Constant((1 << 55) - 1),
            AbstractValue::Constant(-1 << 55),
            AbstractValue::Constant(0xffff_ffff_8100_0000_u64.cast_signed()),
            AbstractValue::AtMost(u32::MAX),
            AbstractValue::ScaledIndex(ScaledIndex { size: 8, most: None }),
            AbstractValue::ScaledIndex(ScaledIndex { size: u8::MAX, most: Some(u32::MAX) }),
            AbstractValue::ScaledIndex(ScaledIndex { size: 4, most: Some(0) }),
            AbstractValue::cfa(i32::MIN),
            AbstractValue::cfa(i32::MAX),
            aligned(0, (1 << 23) - 1),
            aligned(u32::MAX, -1 << 23),
            AbstractValue::Address(BasedAddress { base: Base::SignalFrame, offset: i32::MIN }),
            scalable(i16::MIN, i32::MAX),
            scalable(-16, i32::MIN),
            scalable(i16::MAX, 0),
            AbstractValue::Address(BasedAddress { base: Base::OtherStack(0), offset: -8 }),
            AbstractValue::Address(BasedAddress { base: Base::OtherStack(31), offset: i32::MIN }),
            AbstractValue::Element(u32::MAX),
            AbstractValue::Target(u32::MAX),
        ];
        for value in values {
            assert_eq!(AbstractValue::from(PackedValue::from(value)), value);
        }
        for (a, b) in values.iter().zip(values.iter().skip(1)) {
            assert_ne!(PackedValue::from(*a), PackedValue::from(*b));
        }
    }

    /// The sum of packed values is the packed sum.
    #[test]
    fn bytes_are_added_to_packed_values() {
        let aligned = AbstractValue::Address(BasedAddress { base: Base::Aligned(7), offset: -16 });
        let values = [
            AbstractValue::Unknown,
            AbstractValue::Entry(3),
            AbstractValue::Overwritten,
            AbstractValue::Signed(Key::B),
            AbstractValue::Constant(-8),
            AbstractValue::AtMost(5),
            AbstractValue::ScaledIndex(ScaledIndex { size: 4, most: Some(5) }),
            AbstractValue::cfa(0),
            AbstractValue::cfa(i32::MAX),
            AbstractValue::cfa(i32::MIN),
            aligned,
            AbstractValue::Element(1),
            AbstractValue::Target(2),
        ];
        for value in values {
            for bytes in [0, 8, -8, 1 << 23, i64::from(i32::MIN), i64::MAX, i64::MIN] {
                let sum = PackedValue::from(value.plus(bytes));
                assert_eq!(PackedValue::from(value).plus(bytes), sum, "{value:?} + {bytes}");
            }
        }
    }

    /// Distances of packed addresses are those of the addresses.
    #[test]
    fn distances_need_the_same_base() {
        let aligned = |place, offset| {
            AbstractValue::Address(BasedAddress { base: Base::Aligned(place), offset })
        };
        let values = [
            AbstractValue::Unknown,
            AbstractValue::Constant(0),
            AbstractValue::cfa(0),
            AbstractValue::cfa(i32::MIN),
            AbstractValue::cfa(i32::MAX),
            aligned(0, 0),
            aligned(7, -16),
            aligned(7, (1 << 23) - 1),
            aligned(u32::MAX, -1 << 23),
        ];
        for (a, b) in values.into_iter().flat_map(|a| values.map(|b| (a, b))) {
            let distance = match (a.address(), b.address()) {
                (Some(a), Some(b)) if a.base == b.base => {
                    Some(i64::from(a.offset) - i64::from(b.offset))
                }
                _ => None,
            };
            assert_eq!(PackedValue::from(a).distance_from(b.into()), distance, "{a:?} {b:?}");
        }
    }

    #[test]
    fn values_that_do_not_fit_are_unknown() {
        let aligned =
            |offset| AbstractValue::Address(BasedAddress { base: Base::Aligned(1), offset });
        for value in [
            AbstractValue::Constant(1 << 55),
            AbstractValue::Constant((-1 << 55) - 1),
            aligned(1 << 23),
            aligned((-1 << 23) - 1),
        ] {
            assert!(PackedValue::from(value).is_unknown(), "{value:?}");
        }
    }
}
