//! The stack slots whose content matters for unwinding.

use super::effect::{Number, REGISTERS};
use super::value::{Base, Packed, Place, Value};

/// The maximum number of slots with a known value. Functions save fewer registers.
const MOST: usize = 16;

const EMPTY: Slot = Slot { address: Packed::UNKNOWN, value: Packed::UNKNOWN };

/// Eight bytes of stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slot {
    /// A [`Value::Address`].
    address: Packed,
    value: Packed,
}

impl Slot {
    fn place(&self) -> Option<Place> {
        self.address.place()
    }
}

/// What is known about the function's stack.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    known: [Slot; MOST],
    count: usize,
    /// Everything that was stored with unknown content is in this range of offsets from the CFA.
    stored: (i32, i32),
    /// The registers whose entry values may be in a place that is not in `known`, by bits.
    escaped: u64,
}

impl Default for Slots {
    fn default() -> Slots {
        Slots { known: [EMPTY; MOST], count: 0, stored: (i32::MAX, i32::MIN), escaped: 0 }
    }
}

impl Slots {
    fn known(&self) -> &[Slot] {
        self.known.get(..self.count).unwrap_or_default()
    }

    fn remove(&mut self, index: usize) {
        let last = self.count.saturating_sub(1);
        if index <= last && last < MOST {
            self.known.swap(index, last);
            self.count = last;
        }
    }

    /// Keeps the slots that `keep` accepts. Returns whether there are others.
    fn retain(&mut self, keep: impl Fn(&Slot) -> bool) -> bool {
        let (mut index, before) = (0, self.count);
        while let Some(slot) = self.known().get(index) {
            if keep(slot) {
                index += 1;
            } else {
                self.remove(index);
            }
        }
        self.count != before
    }

    /// The 8 bytes at an address.
    pub(super) fn load(&self, address: Packed) -> Packed {
        let slot = self.known().iter().find(|slot| slot.address == address);
        slot.map_or(Packed::UNKNOWN, |slot| slot.value)
    }

    /// Stores `size` bytes. Stores to unknown addresses change no slot: compilers save registers only at known places,
    /// and other pointers do not lead there. Returns whether anything changed.
    pub(super) fn store(&mut self, address: Packed, size: u8, value: Packed) -> bool {
        let Some(place) = address.place() else { return self.escape(value) };
        let size = i32::from(size);
        let has_overwritten = self.retain(|slot| {
            slot.place().is_none_or(|other| {
                let distance = other.offset.saturating_sub(place.offset);
                other.base != place.base || distance <= -8 || distance >= size
            })
        });
        let slot = Slot { address, value };
        let is_kept = size == 8 && value.is_worth_saving();
        if let Some(free) = self.known.get_mut(self.count).filter(|_| is_kept) {
            *free = slot;
            self.count += 1;
            return true;
        }
        self.escape(value) | self.blur(place, size) | has_overwritten
    }

    /// Notes that something unknown was stored. Returns whether that is new.
    fn blur(&mut self, place: Place, size: i32) -> bool {
        let before = self.stored;
        if place.base == Base::Cfa {
            self.stored.0 = self.stored.0.min(place.offset);
            self.stored.1 = self.stored.1.max(place.offset.saturating_add(size));
        }
        self.stored != before
    }

    /// Notes where a value may be. Returns whether that is new.
    fn escape(&mut self, value: Packed) -> bool {
        let before = self.escaped;
        if let Value::Entry(number) = value.into()
            && usize::from(number) < REGISTERS
        {
            self.escaped |= 1 << number;
        }
        self.escaped != before
    }

    /// Forgets everything below the stack pointer, which other functions may overwrite. Returns whether there was anything.
    pub(super) fn lose_below(&mut self, sp: Packed) -> bool {
        let Some(sp) = sp.place() else { return false };
        self.retain(|slot| {
            slot.place().is_none_or(|place| place.base != sp.base || place.offset >= sp.offset)
        })
    }

    /// Keeps only what is also true in `other`. Returns whether something was lost.
    pub(super) fn join(&mut self, other: &Slots) -> bool {
        let before = (self.count, self.stored, self.escaped);
        if self.known() != other.known() {
            self.keep_common(other);
        }
        self.stored.0 = self.stored.0.min(other.stored.0);
        self.stored.1 = self.stored.1.max(other.stored.1);
        self.escaped |= other.escaped;
        before != (self.count, self.stored, self.escaped)
    }

    /// Keeps only the slots that `other` has with the same values.
    fn keep_common(&mut self, other: &Slots) {
        for slot in other.known() {
            if self.load(slot.address) != slot.value {
                self.lose(*slot);
            }
        }
        let mut index = 0;
        while let Some(slot) = self.known().get(index).copied() {
            if other.load(slot.address) == slot.value {
                index += 1;
            } else {
                self.remove(index);
                self.lose(slot);
            }
        }
    }

    /// Notes that a slot may have other content.
    fn lose(&mut self, slot: Slot) {
        if let Some(place) = slot.place() {
            self.blur(place, 8);
        }
        self.escape(slot.value);
    }

    /// Where a value is, relative to the CFA.
    pub(super) fn find(&self, value: Value) -> Option<i32> {
        let value = Packed::from(value);
        let places = self.known().iter().filter(|slot| slot.value == value);
        let mut in_frame =
            places.filter_map(|slot| slot.place()).filter(|place| place.base == Base::Cfa);
        in_frame.next().map(|place| place.offset)
    }

    /// Whether the entry value of a register is certainly not in the 8 bytes at `offset` from the CFA, because nothing was
    /// stored in that part of the function's stack.
    pub(super) fn cannot_hold(&self, register: Number, offset: i32) -> bool {
        let address = Packed::from(Value::cfa(offset));
        let is_known = self.known().iter().any(|slot| slot.address == address);
        let is_blurred = offset < self.stored.1 && offset.saturating_add(8) > self.stored.0;
        offset < 0 && !is_known && !is_blurred && !self.may_be_elsewhere(register)
    }

    /// Whether the entry value of a register may be in a place that is not known.
    pub(super) fn may_be_elsewhere(&self, register: Number) -> bool {
        usize::from(register) >= REGISTERS || self.escaped >> register & 1 != 0
    }
}
