//! The abstract stack: the slots whose content matters for unwinding.

use std::rc::Rc;

use super::effect::{REGISTERS, RegisterNumber, RegisterSet};
use super::value::{AbstractValue, Base, BasedAddress, PackedValue};

/// The maximum number of slots with a known value. Functions save fewer registers: 20 on AArch64.
const MAX_SLOTS: usize = 24;
/// Of these, addresses of data leave the others to registers.
const MAX_ADDRESSES: usize = 16;
/// Numbers below are no addresses: programs leave the first page of memory free.
const LOWEST_ADDRESS: i64 = 4096;

const EMPTY: Slot = Slot { address: PackedValue::UNKNOWN, value: PackedValue::UNKNOWN };

/// Eight bytes of stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Slot {
    /// A [`AbstractValue::Address`].
    address: PackedValue,
    value: PackedValue,
}

impl Slot {
    fn based_address(&self) -> Option<BasedAddress> {
        self.address.address()
    }

    /// The offset from the CFA; the lowest one for a slot that is relative to another base.
    fn lowest(&self) -> i32 {
        self.address.offset_from_cfa().unwrap_or(i32::MIN)
    }
}

/// What is known about the stack of a function.
#[derive(Clone, Debug, Default)]
pub(super) struct AbstractStack {
    /// Most blocks of a function save nothing: their states share what was saved.
    saved: Rc<SavedSlots>,
    unknown: UnknownStores,
}

/// The slots with a known value.
#[derive(Clone, Debug)]
struct SavedSlots {
    /// Of these, the first `count` are in use.
    known: [Slot; MAX_SLOTS],
    count: usize,
    /// None of them is at a lower offset from the CFA, or relative to another base.
    lowest: i32,
}

/// The stores whose values or addresses are unknown, as far as they matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct UnknownStores {
    /// Everything that was stored with unknown content is in this range of offsets from the CFA.
    stored: (i32, i32),
    /// The registers whose entry values may have been stored at an unknown address.
    escaped: RegisterSet,
    /// The registers whose saved entry values were overwritten, and [`RegisterSet::FRAME`] for a signed return address.
    replaced: RegisterSet,
}

impl Default for UnknownStores {
    fn default() -> UnknownStores {
        let (escaped, replaced) = Default::default();
        UnknownStores { stored: (i32::MAX, i32::MIN), escaped, replaced }
    }
}

impl UnknownStores {
    fn with(self, other: UnknownStores) -> UnknownStores {
        let (start, end) = self.stored;
        UnknownStores {
            stored: (start.min(other.stored.0), end.max(other.stored.1)),
            escaped: self.escaped.with(other.escaped),
            replaced: self.replaced.with(other.replaced),
        }
    }

    /// Adds the bytes from a place to an offset from its base.
    fn with_bytes(self, place: BasedAddress, end: i32) -> UnknownStores {
        let stored = match place.base {
            Base::Cfa => (self.stored.0.min(place.offset), self.stored.1.max(end)),
            Base::Aligned(_) | Base::SignalFrame | Base::OtherStack(_) | Base::Scalable(_) => {
                self.stored
            }
        };
        UnknownStores { stored, ..self }
    }

    /// Adds the register whose entry value this is.
    fn with_value(self, value: PackedValue) -> UnknownStores {
        match value.into() {
            AbstractValue::Entry(number) => {
                UnknownStores { escaped: self.escaped.with(RegisterSet::of(number)), ..self }
            }
            _ => self,
        }
    }

    /// Adds the register whose entry value was in a slot that is overwritten.
    fn without_slot(self, slot: &Slot) -> UnknownStores {
        let saved = match slot.value.into() {
            AbstractValue::Entry(number) => RegisterSet::of(number),
            AbstractValue::Signed(_) => RegisterSet::FRAME,
            _ => RegisterSet::default(),
        };
        UnknownStores { replaced: self.replaced.with(saved), ..self }
    }

    /// Adds a slot that may have other content.
    fn with_slot(self, slot: Slot) -> UnknownStores {
        let place = slot.based_address();
        let stores = place.map_or(self, |at| self.with_bytes(at, at.offset.saturating_add(8)));
        stores.with_value(slot.value)
    }
}

impl Default for SavedSlots {
    fn default() -> SavedSlots {
        SavedSlots { known: [EMPTY; MAX_SLOTS], count: 0, lowest: i32::MAX }
    }
}

impl SavedSlots {
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
        self.lowest = self.known().iter().fold(i32::MAX, |lowest, slot| lowest.min(slot.lowest()));
    }

    /// Adds a slot, for which there is room.
    fn add(&mut self, slot: Slot) {
        if let Some(free) = self.known.get_mut(self.count) {
            *free = slot;
            self.count += 1;
            self.lowest = self.lowest.min(slot.lowest());
        }
    }

    /// The 8 bytes at an address.
    fn load(&self, address: PackedValue) -> PackedValue {
        let slot = self.known().iter().find(|slot| slot.address == address);
        slot.map_or(PackedValue::UNKNOWN, |slot| slot.value)
    }

    /// The slots that do not hold the same in `other`. Most are at the same position in both.
    fn without<'c>(&'c self, other: &'c SavedSlots) -> impl Iterator<Item = Slot> + 'c {
        self.known().iter().enumerate().filter_map(|(index, slot)| {
            let is_in_place = other.known().get(index) == Some(slot);
            (!is_in_place && other.load(slot.address) != slot.value).then_some(*slot)
        })
    }
}

impl AbstractStack {
    /// A stack on which anything may have been stored.
    pub(super) fn unknown() -> AbstractStack {
        let (stored, escaped) = ((i32::MIN, i32::MAX), RegisterSet::ALL);
        let unknown = UnknownStores { stored, escaped, ..UnknownStores::default() };
        AbstractStack { unknown, ..AbstractStack::default() }
    }

    /// The 8 bytes at an address.
    pub(super) fn load(&self, address: PackedValue) -> PackedValue {
        self.saved.load(address)
    }

    /// Stores `size` bytes. Stores to unknown addresses change no slot: compilers save registers only at known places,
    /// and other pointers do not lead there.
    pub(super) fn store(&mut self, address: PackedValue, size: u8, value: PackedValue) {
        let Some(place) = address.address() else {
            self.unknown = self.unknown.with_value(value);
            return;
        };
        let is_kept = |slot: &Slot| match slot.address.distance_from(address) {
            Some(distance) => distance <= -8 || distance >= i64::from(size),
            None => true,
        };
        // Most functions store below what they stored before.
        let end = place.offset.saturating_add(size.into());
        if place.base != Base::Cfa || end > self.saved.lowest {
            let is_replaced = |slot: &&Slot| !is_kept(slot) && slot.value != value;
            let replaced = self.saved.known().iter().filter(is_replaced);
            self.unknown = replaced.fold(self.unknown, UnknownStores::without_slot);
            self.retain(is_kept);
        }
        let count = self.saved.count;
        let is_worth_saving = value.is_worth_saving() && count < MAX_SLOTS
            || is_address_of_data(value) && count < MAX_ADDRESSES;
        if size == 8 && is_worth_saving {
            Rc::make_mut(&mut self.saved).add(Slot { address, value });
            return;
        }
        // A store to one local variable, below the saved registers, counts as a store to all of them. Others change
        // nothing then.
        let (place, end) = match (end..0).contains(&self.saved.lowest) {
            true => (BasedAddress { offset: i32::MIN, ..place }, self.saved.lowest),
            false => (place, end),
        };
        self.unknown = self.unknown.with_bytes(place, end).with_value(value);
    }

    /// Stores an unknown number of bytes. Compilers do so only in their own variables, so that slots keep their content.
    pub(super) fn fill(&mut self, address: PackedValue) {
        if let Some(place) = address.address() {
            self.unknown = self.unknown.with_bytes(place, i32::MAX);
        }
    }

    /// Forgets everything below the stack pointer, which other functions may overwrite.
    pub(super) fn lose_below(&mut self, sp: PackedValue) {
        if sp.offset_from_cfa().is_some_and(|sp| sp <= self.saved.lowest) {
            return;
        }
        self.retain(|slot| slot.address.distance_from(sp).is_none_or(|distance| distance >= 0));
    }

    /// Keeps the slots that `keep` accepts.
    fn retain(&mut self, keep: impl Fn(&Slot) -> bool) {
        if !self.saved.known().iter().all(&keep) {
            Rc::make_mut(&mut self.saved).retain(keep);
        }
    }

    /// Whether this and `other` are certainly equal.
    pub(super) fn is_like(&self, other: &AbstractStack) -> bool {
        Rc::ptr_eq(&self.saved, &other.saved) && self.unknown == other.unknown
    }

    /// Joins another stack: keeps only what is also true in `other`. Returns whether the stack changed.
    pub(super) fn join(&mut self, other: &AbstractStack) -> bool {
        let before = self.unknown;
        self.unknown = before.with(other.unknown);
        if Rc::ptr_eq(&self.saved, &other.saved) {
            return self.unknown != before;
        }
        let mut lost = self.saved.without(&other.saved).peekable();
        let has_lost = lost.peek().is_some();
        let unknown = lost
            .chain(other.saved.without(&self.saved))
            .fold(self.unknown, UnknownStores::with_slot);
        self.unknown = unknown;
        if has_lost {
            let saved = Rc::make_mut(&mut self.saved);
            saved.retain(|slot| other.saved.load(slot.address) == slot.value);
        }
        if self.saved.known() == other.saved.known() {
            self.saved = Rc::clone(&other.saved);
        }
        has_lost || unknown != before
    }

    /// Whether a slot at a known distance from the CFA has this value.
    pub(super) fn holds(&self, value: PackedValue) -> bool {
        let is_there =
            |slot: &Slot| slot.value == value && slot.address.offset_from_cfa().is_some();
        self.saved.known().iter().any(is_there)
    }

    /// The address of a slot with this value.
    pub(super) fn address_of(&self, value: PackedValue) -> Option<PackedValue> {
        self.saved.known().iter().find(|slot| slot.value == value).map(|slot| slot.address)
    }

    /// The offset from the CFA of a slot with this value, among the addresses that `may_be` accepts.
    pub(super) fn find(
        &self,
        value: AbstractValue,
        may_be: impl Fn(PackedValue) -> bool,
    ) -> Option<i32> {
        let value = PackedValue::from(value);
        let is_wanted = |slot: &&Slot| slot.value == value && may_be(slot.address);
        let places = self.saved.known().iter().filter(is_wanted);
        let mut in_frame =
            places.filter_map(|slot| slot.based_address()).filter(|place| place.base == Base::Cfa);
        in_frame.next().map(|place| place.offset)
    }

    /// Whether the entry value of a register is certainly not in the 8 bytes at `offset` from the CFA, because nothing was
    /// stored in that part of the function's stack.
    pub(super) fn cannot_hold(&self, register: RegisterNumber, offset: i32) -> bool {
        let (start, end) = self.unknown.stored;
        let is_overwritten = offset < end && offset.saturating_add(8) > start;
        offset < 0
            && !is_overwritten
            && !self.may_be_elsewhere(register)
            && self.load(AbstractValue::cfa(offset).into()).is_unknown()
    }

    /// Whether something else was stored where the return address, which is the entry value of `register`, was saved.
    pub(super) fn has_replaced_ra(&self, register: RegisterNumber) -> bool {
        self.unknown.replaced.meet(RegisterSet::of(register).with(RegisterSet::FRAME))
    }

    /// Whether the entry value of a register may have been stored at an unknown address.
    pub(super) fn may_be_elsewhere(&self, register: RegisterNumber) -> bool {
        usize::from(register) >= REGISTERS || self.unknown.escaped.meet(RegisterSet::of(register))
    }
}

/// Whether a value is a fixed address. Compilers keep those of jump tables in slots, too.
fn is_address_of_data(value: PackedValue) -> bool {
    matches!(value.into(), AbstractValue::Constant(LOWEST_ADDRESS..))
}
