//! The instructions of a function that control may reach, decoded once.

use std::collections::BTreeSet;
use std::ops::Range;

use super::effect::{Decoder, Effect, Next, Registers};
use super::scratch::Lists;
use super::step::{NONE, Step};
use super::surroundings::{Exceptions, Part, Surroundings};

/// The maximum number of blocks of a function. Memory grows with them.
const MOST_BLOCKS: u32 = 1 << 16;
/// The size of the longest instruction in bytes (AMD64).
const LONGEST: usize = 15;
/// The number of places for which there is room from the start. Most functions have fewer to be decoded at a time.
const ROOM: usize = 32;
/// The maximum number of parts of a function.
const MOST_PARTS: usize = 64;

/// The instructions of a function, divided into blocks: sequences that are entered only at their start. Conditional branches may
/// leave them before their end.
#[derive(Debug)]
pub(super) struct Listing<'c> {
    /// Each with the number of its first byte: the bytes of all parts are numbered.
    parts: Vec<(Part<'c>, usize)>,
    lists: Lists,
    pub(super) exceptions: Exceptions,
    /// Places that cannot be decoded, or that are in no part that could be added.
    not_code: BTreeSet<u64>,
    is_too_large: bool,
    /// Some bytes may belong to two instructions.
    may_overlap: bool,
}

/// An instruction that was decoded.
struct Decoded {
    length: u8,
    next: Next,
    has_effects: bool,
}

impl<'c> Listing<'c> {
    /// Without any code; `lists` are empty.
    pub(super) fn within(lists: Lists) -> Listing<'c> {
        Listing {
            parts: Vec::with_capacity(1),
            lists,
            exceptions: Exceptions::default(),
            not_code: BTreeSet::new(),
            is_too_large: false,
            may_overlap: false,
        }
    }

    /// The memory of the listing, which is no longer needed.
    pub(super) fn into_lists(self) -> Lists {
        self.lists
    }

    /// Adds a piece of code to the function.
    pub(super) fn add_part(&mut self, part: Part<'c>, surroundings: &impl Surroundings<'c>) {
        self.exceptions.add(surroundings.exceptions(&part));
        let first = self.lists.index.len();
        self.lists.index.resize(first.saturating_add(part.code.len()), NONE);
        self.parts.push((part, first));
    }

    /// Adds the function at an address as a part of this one.
    pub(super) fn absorb(&mut self, address: u64, surroundings: &impl Surroundings<'c>) {
        if self.contains(address) {
            return;
        }
        match surroundings.part(address).filter(|_| self.parts.len() < MOST_PARTS) {
            Some(part) => self.add_part(part, surroundings),
            None => {
                self.not_code.insert(address);
            }
        }
    }

    /// Whether the function has too many blocks, some of which are missing.
    pub(super) const fn is_too_large(&self) -> bool {
        self.is_too_large
    }

    /// Whether some bytes may belong to two instructions.
    pub(super) const fn may_overlap(&self) -> bool {
        self.may_overlap
    }

    /// Whether an address is in the function.
    pub(super) fn contains(&self, address: u64) -> bool {
        self.find_part(address).is_some()
    }

    /// Whether it is known that nothing can be decoded at an address.
    pub(super) fn is_not_code(&self, address: u64) -> bool {
        self.not_code.contains(&address)
    }

    /// The number of blocks.
    pub(super) const fn block_count(&self) -> usize {
        self.lists.blocks.len()
    }

    /// The first instruction of a block.
    pub(super) fn first_step(&self, block: u32) -> Option<u32> {
        self.lists.blocks.get(usize::try_from(block).ok()?).copied()
    }

    /// The address of a block.
    pub(super) fn block_address(&self, block: u32) -> u64 {
        let first = self.first_step(block).and_then(|step| self.step(step));
        first.map_or(0, |step| step.address)
    }

    /// The block into which a block continues, if no jump ends it.
    pub(super) fn block_after(&self, block: u32) -> Option<u32> {
        let mut step = self.step(self.first_step(block)?)?;
        loop {
            step = self.step(step.following)?;
            if step.block != NONE {
                return Some(step.block);
            }
        }
    }

    /// An instruction, and those that were decoded after it.
    pub(super) fn steps_from(&self, number: u32) -> &[Step] {
        let steps = usize::try_from(number).ok().and_then(|number| self.lists.steps.get(number..));
        steps.unwrap_or_default()
    }

    /// The instructions from one to another that was decoded after it.
    pub(super) fn steps_between(&self, first: u32, last: u32) -> &[Step] {
        let count = last.checked_sub(first).and_then(|count| usize::try_from(count).ok());
        count.and_then(|count| self.steps_from(first).get(..=count)).unwrap_or_default()
    }

    pub(super) fn step(&self, number: u32) -> Option<&Step> {
        self.lists.steps.get(usize::try_from(number).ok()?)
    }

    /// The instruction that starts at an address.
    pub(super) fn step_at(&self, address: u64) -> Option<u32> {
        let (part, first) = self.find_part(address)?;
        let step = *self.lists.index.get(first.checked_add(part.offset(address)?)?)?;
        (step != NONE).then_some(step)
    }

    /// The effects of an instruction.
    pub(super) fn effects(&self, step: &Step) -> &[Effect] {
        let first = step.first_effect as usize;
        self.lists.effects.get(first..first + usize::from(step.effect_count)).unwrap_or_default()
    }

    /// The addresses of the function's parts.
    pub(super) fn parts(&self) -> impl Iterator<Item = Range<u64>> {
        self.parts
            .iter()
            .map(|(part, _)| part.start..part.start.wrapping_add(part.code.len() as u64))
    }

    /// The part that contains an address, and the number of its first byte.
    fn find_part(&self, address: u64) -> Option<(Part<'c>, usize)> {
        self.parts.iter().find(|(part, _)| part.offset(address).is_some()).copied()
    }

    /// Decodes everything that the instruction at `place` leads to, apart from indirect jumps. A block starts there.
    pub(super) fn discover(
        &mut self,
        place: u64,
        decoder: &mut impl Decoder<'c>,
        surroundings: &impl Surroundings<'c>,
    ) {
        let mut places = Vec::with_capacity(ROOM);
        places.push(place);
        while let Some(place) = places.pop() {
            self.decode_from(place, decoder, surroundings, &mut places);
            self.start_block(place);
        }
    }

    /// Decodes instructions from `place` on, until the next one was decoded before or there is none. Adds the places to
    /// which they lead to `places`.
    fn decode_from(
        &mut self,
        place: u64,
        decoder: &mut impl Decoder<'c>,
        surroundings: &impl Surroundings<'c>,
        places: &mut Vec<u64>,
    ) {
        let Some((part, first)) = self.find_part(place) else { return };
        let Some(mut offset) = part.offset(place) else { return };
        let (start, decoded) = (first.saturating_add(offset), self.lists.steps.len());
        if self.lists.index.get(start) == Some(&NONE) {
            self.may_overlap |= self.is_within_instruction(start);
        }
        // The instruction that continues at the next one.
        let mut before = NONE;
        let mut is_after_call = false;
        let following = loop {
            let slot = first.saturating_add(offset);
            let known = self.lists.index.get(slot).filter(|_| offset < part.code.len());
            let Some(known) = known.copied() else { break NONE };
            if known != NONE {
                if before != NONE {
                    self.start_block_at(known);
                }
                break known;
            }
            let number = self.lists.steps.len();
            let Some(step) = self.decode(&part, offset, decoder, surroundings) else { break NONE };
            let Decoded { length, next, has_effects } = step;
            let number = u32::try_from(number).unwrap_or(NONE);
            let address = part.start.wrapping_add(offset as u64);
            offset = offset.saturating_add(usize::from(length));
            if let Some(index) = self.lists.index.get_mut(slot) {
                *index = number;
            }
            before = number;
            // If the call does not return, only jumps of other functions lead here, and with another stack.
            if is_after_call && surroundings.is_entered_elsewhere(address) {
                self.start_block_at(number);
            }
            is_after_call &= !has_effects && next == Next::Following;
            let goes_on = match next {
                Next::Following => true,
                Next::Jump(to) | Next::Branch(to, _) => {
                    places.extend(self.contains(to).then_some(to));
                    if to <= address {
                        self.note_loop(to);
                    }
                    matches!(next, Next::Branch(..))
                }
                Next::Call(_) | Next::IndirectCall => {
                    is_after_call = true;
                    places.extend(self.exceptions.pad_of(address));
                    let is_endless =
                        matches!(next, Next::Call(to) if surroundings.never_returns(to));
                    if is_endless {
                        self.end_at(number);
                    }
                    !is_endless
                }
                Next::Indirect(_) | Next::Return | Next::Stop => false,
            };
            if !goes_on {
                break NONE;
            }
        };
        if before != NONE {
            self.link(before, following);
        }
        let decoded = self.lists.steps.len().saturating_sub(decoded);
        let starts = self.starts_within(start..first.saturating_add(offset));
        self.may_overlap |= usize::try_from(starts).is_ok_and(|starts| starts > decoded);
    }

    /// Decodes an instruction. `None` if it is none.
    #[inline]
    fn decode(
        &mut self,
        part: &Part<'c>,
        offset: usize,
        decoder: &mut impl Decoder<'c>,
        surroundings: &impl Surroundings<'c>,
    ) -> Option<Decoded> {
        let address = part.start.wrapping_add(offset as u64);
        let number = u32::try_from(self.lists.steps.len()).ok()?;
        let first_effect = self.lists.effects.len();
        let decoded = decoder.decode(part.code, offset, address, &mut self.lists.effects);
        let Some((length, next)) = decoded else {
            self.lists.effects.truncate(first_effect);
            self.not_code.insert(address);
            return None;
        };
        let effects = self.lists.effects.get_mut(first_effect..).unwrap_or_default();
        let next = surroundings.relocate(address, length, next, effects);
        let has_effects = !effects.is_empty();
        self.lists.steps.push(Step {
            address,
            length,
            effect_count: u8::try_from(effects.len()).ok()?,
            first_effect: u32::try_from(first_effect).ok()?,
            subjects: effects.iter().fold(Registers::default(), |all, e| all.with(e.subjects())),
            is_final: false,
            next,
            following: number.checked_add(1)?,
            block: NONE,
            starts_loop: false,
        });
        Some(Decoded { length, next, has_effects })
    }

    /// Notes that a call does not return. Returns false if that is known.
    pub(super) fn end_at(&mut self, call: u32) -> bool {
        let step = usize::try_from(call).ok().and_then(|call| self.lists.steps.get_mut(call));
        step.is_some_and(|step| !core::mem::replace(&mut step.is_final, true))
    }

    /// The number of instructions that start in a range of bytes.
    fn starts_within(&self, bytes: Range<usize>) -> u32 {
        let index = self.lists.index.get(bytes).unwrap_or_default();
        index.iter().map(|number| u32::from(*number != NONE)).sum()
    }

    /// Whether the bytes before one may be the start of an instruction that contains it.
    fn is_within_instruction(&self, byte: usize) -> bool {
        let before = self.lists.index.get(byte.saturating_sub(LONGEST - 1)..byte);
        (1..).zip(before.unwrap_or_default().iter().rev()).any(|(distance, number)| {
            self.step(*number).is_some_and(|step| usize::from(step.length) > distance)
        })
    }

    /// Notes which instruction follows one.
    fn link(&mut self, number: u32, following: u32) {
        let step = usize::try_from(number).ok().and_then(|n| self.lists.steps.get_mut(n));
        if let Some(step) = step {
            step.following = following;
        }
    }

    /// Notes that a loop starts at `place`, if the instruction there was decoded.
    fn note_loop(&mut self, place: u64) {
        let number = self.step_at(place).and_then(|number| usize::try_from(number).ok());
        if let Some(step) = number.and_then(|number| self.lists.steps.get_mut(number)) {
            step.starts_loop = true;
        }
    }

    /// Whether a block is the start of a loop.
    pub(super) fn starts_loop(&self, block: u32) -> bool {
        let first = self.first_step(block).and_then(|step| self.step(step));
        first.is_some_and(|step| step.starts_loop)
    }

    /// Notes that a block starts at `place`, if there is an instruction.
    fn start_block(&mut self, place: u64) {
        if let Some(number) = self.step_at(place) {
            self.start_block_at(number);
        }
    }

    /// Notes that a block starts with an instruction.
    fn start_block_at(&mut self, number: u32) {
        let step = usize::try_from(number).ok().and_then(|n| self.lists.steps.get_mut(n));
        let Some(step) = step.filter(|step| step.block == NONE) else { return };
        let block = u32::try_from(self.lists.blocks.len()).ok();
        let Some(block) = block.filter(|block| *block < MOST_BLOCKS) else {
            self.is_too_large = true;
            return;
        };
        step.block = block;
        self.lists.blocks.push(number);
    }
}
