//! The instructions of a function that control may reach, decoded once.

use std::collections::BTreeSet;
use std::ops::Range;

use super::effect::{Decoder, Effect, Next, Registers};
use super::surroundings::{Exceptions, Part, Surroundings};

/// The maximum number of blocks of a function. Memory grows with them.
const MOST_BLOCKS: u32 = 1 << 16;
/// The maximum number of parts of a function.
const MOST_PARTS: usize = 64;

/// No instruction, or no block.
pub(super) const NONE: u32 = u32::MAX;

/// An instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    pub(super) address: u64,
    /// Bytes.
    pub(super) length: u8,
    effect_count: u8,
    first_effect: u32,
    /// If nothing is known about these registers, its effects change nothing.
    pub(super) subjects: Registers,
    /// A call that does not return.
    pub(super) is_final: bool,
    pub(super) next: Next,
    /// The instruction after it, or [`NONE`].
    pub(super) following: u32,
    /// The block that starts here, or [`NONE`].
    pub(super) block: u32,
}

impl Step {
    /// Whether the instruction has effects.
    pub(super) const fn has_effects(&self) -> bool {
        self.effect_count != 0
    }

    /// The address after the instruction.
    pub(super) fn end(&self) -> u64 {
        self.address.wrapping_add(u64::from(self.length))
    }
}

/// The instructions of a function, divided into blocks: sequences that are entered only at their start. Conditional branches may
/// leave them before their end.
#[derive(Debug, Default)]
pub(super) struct Listing<'c> {
    parts: Vec<Part<'c>>,
    /// For each part and offset in it, the instruction there.
    index: Vec<Vec<u32>>,
    steps: Vec<Step>,
    effects: Vec<Effect>,
    /// The first instruction of each block.
    blocks: Vec<u32>,
    pub(super) exceptions: Exceptions,
    /// Places that cannot be decoded, or that are in no part that could be added.
    not_code: BTreeSet<u64>,
    is_too_large: bool,
}

impl<'c> Listing<'c> {
    /// Adds a piece of code to the function.
    pub(super) fn add_part(&mut self, part: Part<'c>, surroundings: &impl Surroundings<'c>) {
        self.exceptions.add(surroundings.exceptions(&part));
        self.index.push(vec![NONE; part.code.len()]);
        // Less than one instruction for four bytes of code is rare.
        self.steps.reserve(part.code.len() / 4);
        self.effects.reserve(part.code.len() / 4);
        self.parts.push(part);
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
        self.blocks.len()
    }

    /// The first instruction of a block.
    pub(super) fn first_step(&self, block: u32) -> Option<u32> {
        self.blocks.get(usize::try_from(block).ok()?).copied()
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

    pub(super) fn step(&self, number: u32) -> Option<&Step> {
        self.steps.get(usize::try_from(number).ok()?)
    }

    /// The instruction that starts at an address.
    pub(super) fn step_at(&self, address: u64) -> Option<u32> {
        let (part, offset) = self.find_part(address)?;
        let step = *self.index.get(part)?.get(offset)?;
        (step != NONE).then_some(step)
    }

    /// The effects of an instruction.
    pub(super) fn effects(&self, step: &Step) -> &[Effect] {
        let first = step.first_effect as usize;
        self.effects.get(first..first + usize::from(step.effect_count)).unwrap_or_default()
    }

    /// The addresses of the function's parts.
    pub(super) fn parts(&self) -> impl Iterator<Item = Range<u64>> {
        self.parts.iter().map(|part| part.start..part.start.wrapping_add(part.code.len() as u64))
    }

    fn find_part(&self, address: u64) -> Option<(usize, usize)> {
        let found = |(number, part): (usize, &Part<'_>)| Some((number, part.offset(address)?));
        self.parts.iter().enumerate().find_map(found)
    }

    /// Decodes everything that the instruction at `place` leads to, apart from indirect jumps. A block starts there.
    pub(super) fn discover(
        &mut self,
        place: u64,
        decoder: &mut impl Decoder<'c>,
        surroundings: &impl Surroundings<'c>,
    ) {
        let mut places = vec![place];
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
        let Some((part, mut offset)) = self.find_part(place) else { return };
        let (mut last, mut is_after_call) = (None, false);
        loop {
            let known = self.index.get(part).and_then(|index| index.get(offset)).copied();
            let decoded = match known {
                None => return,
                Some(NONE) => self.decode(part, offset, decoder, surroundings),
                Some(known) => {
                    if last.is_some() {
                        let address = self.step(known).map_or(0, |step| step.address);
                        self.start_block(address);
                    }
                    self.link(last, known);
                    return;
                }
            };
            let Some((number, step)) = decoded else { return };
            self.link(last, number);
            // If the call does not return, only jumps of other functions lead here, and with another stack.
            if is_after_call && surroundings.is_entered_elsewhere(step.address) {
                self.start_block(step.address);
            }
            is_after_call = match step.next {
                Next::Call(_) => true,
                Next::Following => is_after_call && !step.has_effects(),
                _ => false,
            };
            let goes_on = match step.next {
                Next::Following => true,
                Next::Jump(to) => {
                    places.extend(self.contains(to).then_some(to));
                    false
                }
                Next::Branch(to, _) => {
                    places.extend(self.contains(to).then_some(to));
                    true
                }
                Next::Call(function) => {
                    places.extend(self.exceptions.pad_of(step.address));
                    let is_endless = function.is_some_and(|f| surroundings.never_returns(f));
                    if is_endless {
                        self.end_at(number);
                    }
                    !is_endless
                }
                Next::Indirect(_) | Next::Return | Next::Stop => false,
            };
            if !goes_on {
                return;
            }
            last = Some(number);
            offset = offset.saturating_add(usize::from(step.length));
        }
    }

    /// Decodes an instruction. Returns it and its number.
    fn decode(
        &mut self,
        part: usize,
        offset: usize,
        decoder: &mut impl Decoder<'c>,
        surroundings: &impl Surroundings<'c>,
    ) -> Option<(u32, Step)> {
        let Part { start, code } = *self.parts.get(part)?;
        let address = start.wrapping_add(offset as u64);
        let (number, first_effect) = (self.steps.len(), self.effects.len());
        let decoded = decoder.decode(code, offset, address, &mut self.effects);
        let Some((length, next)) = decoded else {
            self.effects.truncate(first_effect);
            self.not_code.insert(address);
            return None;
        };
        let next = surroundings.next(address, length, next);
        let number = u32::try_from(number).ok()?;
        let effects = self.effects.get(first_effect..).unwrap_or_default();
        let subjects =
            effects.iter().fold(Registers::default(), |all, effect| all.with(effect.subjects()));
        let effect_count = u8::try_from(effects.len()).ok()?;
        let first_effect = u32::try_from(first_effect).ok()?;
        let step = Step {
            address,
            length,
            effect_count,
            first_effect,
            subjects,
            is_final: false,
            next,
            following: NONE,
            block: NONE,
        };
        self.steps.push(step);
        *self.index.get_mut(part)?.get_mut(offset)? = number;
        Some((number, step))
    }

    /// Notes that a call does not return. Returns false if that is known.
    pub(super) fn end_at(&mut self, call: u32) -> bool {
        let step = usize::try_from(call).ok().and_then(|call| self.steps.get_mut(call));
        step.is_some_and(|step| !core::mem::replace(&mut step.is_final, true))
    }

    fn link(&mut self, last: Option<u32>, following: u32) {
        let last = last.and_then(|last| self.steps.get_mut(usize::try_from(last).ok()?));
        if let Some(step) = last {
            step.following = following;
        }
    }

    /// Notes that a block starts at `place`, if there is an instruction.
    fn start_block(&mut self, place: u64) {
        let number = self.step_at(place);
        let Some(step) = number.and_then(|n| self.steps.get_mut(usize::try_from(n).ok()?)) else {
            return;
        };
        if step.block != NONE {
            return;
        }
        let block = u32::try_from(self.blocks.len()).ok().filter(|block| *block < MOST_BLOCKS);
        let Some(block) = block else {
            self.is_too_large = true;
            return;
        };
        step.block = block;
        self.blocks.extend(number);
    }
}
