//! The stack slots whose content matters for unwinding.

use std::rc::Rc;

use super::effect::{Number, REGISTERS, Registers};
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

/// What is known about the function's stack. Most blocks of a function change nothing in it: their states share it.
#[derive(Clone, Debug, Default)]
pub(super) struct Slots(Rc<Content>);

#[derive(Clone, Debug)]
struct Content {
    /// Of these, the first `count` are in use.
    known: [Slot; MOST],
    count: usize,
    /// Everything that was stored with unknown content is in this range of offsets from the CFA.
    stored: (i32, i32),
    /// The registers whose entry values may be in a place that is not in `known`.
    escaped: Registers,
}

impl Default for Content {
    fn default() -> Content {
        let (stored, escaped) = ((i32::MAX, i32::MIN), Registers::default());
        Content { known: [EMPTY; MOST], count: 0, stored, escaped }
    }
}

impl PartialEq for Content {
    fn eq(&self, other: &Content) -> bool {
        (self.stored, self.escaped) == (other.stored, other.escaped)
            && self.known() == other.known()
    }
}

impl Content {
    fn known(&self) -> &[Slot] {
        self.known.get(..self.count).unwrap_or_default()
    }

    fn remove(&mut self, index: usize) {
        let last = self.count.saturating_sub(1);
        if let Some(moved) = self.known.get(last).copied()
            && let Some(slot) = self.known.get_mut(index).filter(|_| index <= last)
        {
            *slot = moved;
            self.count = last;
        }
        if let Some(free) = self.known.get_mut(last) {
            *free = EMPTY;
        }
    }

    fn retain(&mut self, keep: impl Fn(&Slot) -> bool) {
        let mut index = 0;
        while let Some(slot) = self.known().get(index) {
            if keep(slot) {
                index += 1;
            } else {
                self.remove(index);
            }
        }
    }

    /// The range of what was stored with unknown content, and `size` bytes at a place.
    fn stored_with(&self, place: Place, size: i32) -> (i32, i32) {
        let (start, end) = self.stored;
        match place.base {
            Base::Cfa => (start.min(place.offset), end.max(place.offset.saturating_add(size))),
            Base::Aligned(_) => (start, end),
        }
    }

    /// The registers whose entry values may be in an unknown place, and the one whose entry value `value` is.
    fn escaped_with(&self, value: Packed) -> Registers {
        match value.into() {
            Value::Entry(number) => self.escaped.with(Registers::of(number)),
            _ => self.escaped,
        }
    }

    /// The 8 bytes at an address.
    fn load(&self, address: Packed) -> Packed {
        let slot = self.known().iter().find(|slot| slot.address == address);
        slot.map_or(Packed::UNKNOWN, |slot| slot.value)
    }

    /// Keeps only what is also true in `other`.
    fn join(&mut self, other: &Content) {
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
        self.stored = (self.stored.0.min(other.stored.0), self.stored.1.max(other.stored.1));
        self.escaped = self.escaped.with(other.escaped);
    }

    /// Notes that a slot may have other content.
    fn lose(&mut self, slot: Slot) {
        if let Some(place) = slot.place() {
            self.stored = self.stored_with(place, 8);
        }
        self.escaped = self.escaped_with(slot.value);
    }
}

impl Slots {
    /// The 8 bytes at an address.
    pub(super) fn load(&self, address: Packed) -> Packed {
        self.0.load(address)
    }

    /// Stores `size` bytes. Stores to unknown addresses change no slot: compilers save registers only at known places,
    /// and other pointers do not lead there.
    pub(super) fn store(&mut self, address: Packed, size: u8, value: Packed) {
        let Some(place) = address.place() else {
            let (stored, escaped) = (self.0.stored, self.0.escaped_with(value));
            return self.blur(stored, escaped);
        };
        let size = i32::from(size);
        let is_kept = |slot: &Slot| {
            slot.place().is_none_or(|other| {
                let distance = other.offset.saturating_sub(place.offset);
                other.base != place.base || distance <= -8 || distance >= size
            })
        };
        self.retain(is_kept);
        if size == 8 && value.is_worth_saving() && self.0.count < MOST {
            let content = Rc::make_mut(&mut self.0);
            if let Some(free) = content.known.get_mut(content.count) {
                *free = Slot { address, value };
                content.count += 1;
            }
            return;
        }
        let (stored, escaped) = (self.0.stored_with(place, size), self.0.escaped_with(value));
        self.blur(stored, escaped);
    }

    /// Replaces the range of what was stored with unknown content, and the registers whose entry values may be in unknown
    /// places.
    fn blur(&mut self, stored: (i32, i32), escaped: Registers) {
        if (self.0.stored, self.0.escaped) != (stored, escaped) {
            let content = Rc::make_mut(&mut self.0);
            (content.stored, content.escaped) = (stored, escaped);
        }
    }

    /// Forgets everything below the stack pointer, which other functions may overwrite.
    pub(super) fn lose_below(&mut self, sp: Packed) {
        let Some(sp) = sp.place() else { return };
        self.retain(|slot| {
            slot.place().is_none_or(|place| place.base != sp.base || place.offset >= sp.offset)
        });
    }

    /// Keeps the slots that `keep` accepts.
    fn retain(&mut self, keep: impl Fn(&Slot) -> bool) {
        if !self.0.known().iter().all(&keep) {
            Rc::make_mut(&mut self.0).retain(keep);
        }
    }

    /// Whether this and `other` certainly say the same, because they share their content.
    pub(super) fn is_shared_with(&self, other: &Slots) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// Keeps only what is also true in `other`. Returns whether something was lost.
    pub(super) fn join(&mut self, other: &Slots) -> bool {
        if Rc::ptr_eq(&self.0, &other.0) {
            return false;
        }
        if self.0 == other.0 {
            self.0 = Rc::clone(&other.0);
            return false;
        }
        let before = (self.0.count, self.0.stored, self.0.escaped);
        let content = Rc::make_mut(&mut self.0);
        content.join(&other.0);
        before != (content.count, content.stored, content.escaped)
    }

    /// Where a value is, relative to the CFA.
    pub(super) fn find(&self, value: Value) -> Option<i32> {
        let value = Packed::from(value);
        let places = self.0.known().iter().filter(|slot| slot.value == value);
        let mut in_frame =
            places.filter_map(|slot| slot.place()).filter(|place| place.base == Base::Cfa);
        in_frame.next().map(|place| place.offset)
    }

    /// Whether the entry value of a register is certainly not in the 8 bytes at `offset` from the CFA, because nothing was
    /// stored in that part of the function's stack.
    pub(super) fn cannot_hold(&self, register: Number, offset: i32) -> bool {
        let is_blurred = offset < self.0.stored.1 && offset.saturating_add(8) > self.0.stored.0;
        offset < 0
            && !is_blurred
            && !self.may_be_elsewhere(register)
            && self.load(Value::cfa(offset).into()).is_unknown()
    }

    /// Whether the entry value of a register may be in a place that is not known.
    pub(super) fn may_be_elsewhere(&self, register: Number) -> bool {
        usize::from(register) >= REGISTERS || self.0.escaped.meet(Registers::of(register))
    }
}
