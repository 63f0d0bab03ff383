//! The control-flow graph of a function: the instructions that control may reach, decoded once and divided into basic blocks.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::context::{Exceptions, FileContext, Fragment};
use super::effect::{ControlFlow, Decoder, Effect, RegisterSet};
use super::machine::LONGEST_INSTRUCTION;
use super::outlined::kept;
use super::scratch::GraphBuffers;
use super::step::{NO_INDEX, Step};

/// The maximum number of blocks of a function. Memory grows with them.
const MAX_BLOCKS: u32 = 1 << 16;
/// The number of addresses for which there is room from the start. Most functions have fewer to be decoded at a time.
const ROOM: usize = 32;
/// The maximum number of fragments of a function.
const MAX_FRAGMENTS: usize = 64;

/// The control-flow graph of a function. It has no edges of its own: those of a block follow from its instructions, and
/// those of its indirect jumps from states.
#[derive(Debug)]
pub(super) struct ControlFlowGraph<'c> {
    /// Each with the number of its first byte: the bytes of all fragments are numbered in the order in which these were added.
    fragments: Vec<(Fragment<'c>, usize)>,
    buffers: GraphBuffers,
    pub(super) exceptions: Exceptions,
    /// Addresses at which nothing can be decoded, or which are in no fragment that could be added.
    not_code: BTreeSet<u64>,
    /// The instructions that are executed, but cannot be decoded: their addresses and ends.
    undecoded: BTreeMap<u64, u64>,
    is_too_large: bool,
    /// Some bytes may belong to two instructions.
    may_overlap: bool,
}

/// An instruction that was decoded.
struct Decoded {
    length: u8,
    next: ControlFlow,
    has_effects: bool,
}

impl<'c> ControlFlowGraph<'c> {
    /// Without any code, in buffers that are empty.
    pub(super) fn within(buffers: GraphBuffers) -> ControlFlowGraph<'c> {
        ControlFlowGraph {
            fragments: Vec::with_capacity(1),
            buffers,
            exceptions: Exceptions::default(),
            not_code: BTreeSet::new(),
            undecoded: BTreeMap::new(),
            is_too_large: false,
            may_overlap: false,
        }
    }

    /// The buffers, when the graph is no longer needed.
    pub(super) fn into_buffers(self) -> GraphBuffers {
        self.buffers
    }

    /// Adds a fragment to the function.
    pub(super) fn add_fragment(&mut self, fragment: Fragment<'c>, context: &impl FileContext<'c>) {
        self.exceptions.add(context.exceptions(&fragment));
        let first = self.buffers.index.len();
        self.buffers.index.resize(first.saturating_add(fragment.code.len()), NO_INDEX);
        self.fragments.push((fragment, first));
    }

    /// Adds the code at an address, which seemed to be another function, as a fragment.
    pub(super) fn absorb(&mut self, address: u64, context: &impl FileContext<'c>) {
        if self.contains(address) {
            return;
        }
        match context.fragment(address).filter(|_| self.fragments.len() < MAX_FRAGMENTS) {
            Some(fragment) => self.add_fragment(fragment, context),
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
        self.find_fragment(address).is_some()
    }

    /// Whether it is known that nothing can be decoded at an address.
    pub(super) fn is_not_code(&self, address: u64) -> bool {
        self.not_code.contains(&address)
    }

    /// The instruction that cannot be decoded at an address, or right before it.
    pub(super) fn undecoded_before(&self, address: u64) -> Option<u64> {
        let before = self.undecoded.range(..address).next_back();
        let before = before.filter(|(_, end)| **end == address).map(|(start, _)| *start);
        before.or_else(|| self.not_code.contains(&address).then_some(address))
    }

    /// The number of blocks.
    pub(super) const fn block_count(&self) -> usize {
        self.buffers.blocks.len()
    }

    /// The first instruction of a block.
    pub(super) fn first_step(&self, block: u32) -> Option<u32> {
        self.buffers.blocks.get(usize::try_from(block).ok()?).copied()
    }

    /// The address of a block.
    pub(super) fn block_address(&self, block: u32) -> u64 {
        let first = self.first_step(block).and_then(|step| self.step(step));
        first.map_or(0, |step| step.address)
    }

    /// The block into which a block falls through, if no jump ends it.
    pub(super) fn block_after(&self, block: u32) -> Option<u32> {
        let mut step = self.step(self.first_step(block)?)?;
        loop {
            step = self.step(step.following)?;
            if step.block != NO_INDEX {
                return Some(step.block);
            }
        }
    }

    /// An instruction, and those that were decoded after it.
    pub(super) fn steps_from(&self, number: u32) -> &[Step] {
        let steps =
            usize::try_from(number).ok().and_then(|number| self.buffers.steps.get(number..));
        steps.unwrap_or_default()
    }

    /// The instructions from one to another that was decoded after it.
    pub(super) fn steps_between(&self, first: u32, last: u32) -> &[Step] {
        let count = last.checked_sub(first).and_then(|count| usize::try_from(count).ok());
        count.and_then(|count| self.steps_from(first).get(..=count)).unwrap_or_default()
    }

    pub(super) fn step(&self, number: u32) -> Option<&Step> {
        self.buffers.steps.get(usize::try_from(number).ok()?)
    }

    /// The instruction that starts at an address.
    pub(super) fn step_at(&self, address: u64) -> Option<u32> {
        let (fragment, first) = self.find_fragment(address)?;
        let step = *self.buffers.index.get(first.checked_add(fragment.offset(address)?)?)?;
        (step != NO_INDEX).then_some(step)
    }

    /// The effects of an instruction.
    pub(super) fn effects(&self, step: &Step) -> &[Effect] {
        let first = step.first_effect as usize;
        self.buffers.effects.get(first..first + usize::from(step.effect_count)).unwrap_or_default()
    }

    /// The addresses of the function's fragments.
    pub(super) fn fragments(&self) -> impl Iterator<Item = Range<u64>> {
        self.fragments.iter().map(|(fragment, _)| {
            fragment.start..fragment.start.wrapping_add(fragment.code.len() as u64)
        })
    }

    /// The fragment that contains an address, and the number of its first byte.
    fn find_fragment(&self, address: u64) -> Option<(Fragment<'c>, usize)> {
        self.fragments.iter().find(|(fragment, _)| fragment.offset(address).is_some()).copied()
    }

    /// Discovers the code that direct edges reach from the instruction at an address, and starts a block there.
    pub(super) fn discover(
        &mut self,
        address: u64,
        decoder: &mut impl Decoder<'c>,
        context: &impl FileContext<'c>,
    ) {
        let mut targets = Vec::with_capacity(ROOM);
        targets.push(address);
        while let Some(address) = targets.pop() {
            self.decode_from(address, decoder, context, &mut targets);
            self.start_block(address);
        }
    }

    /// Decodes instructions from an address on, until the next one was decoded before or control does not go there. Adds
    /// their targets to
    /// `targets`.
    fn decode_from(
        &mut self,
        address: u64,
        decoder: &mut impl Decoder<'c>,
        context: &impl FileContext<'c>,
        targets: &mut Vec<u64>,
    ) {
        let Some((fragment, first)) = self.find_fragment(address) else { return };
        let Some(mut offset) = fragment.offset(address) else { return };
        let (start, decoded) = (first.saturating_add(offset), self.buffers.steps.len());
        if self.buffers.index.get(start) == Some(&NO_INDEX) {
            self.may_overlap |= self.is_within_instruction(start);
        }
        // The instruction that continues at the next one.
        let mut before = NO_INDEX;
        let mut is_after_call = false;
        let following = loop {
            let slot = first.saturating_add(offset);
            let known = self.buffers.index.get(slot).filter(|_| offset < fragment.code.len());
            let Some(known) = known.copied() else { break NO_INDEX };
            if known != NO_INDEX {
                if before != NO_INDEX {
                    self.start_block_at(known);
                }
                break known;
            }
            let number = self.buffers.steps.len();
            // Jumps to bytes that cannot be decoded are never taken.
            let is_entered = before != NO_INDEX && !is_after_call || offset == 0;
            let left = fragment.code.len().saturating_sub(offset);
            let is_whole = left >= usize::from(context.conventions().longest_instruction);
            let address = fragment.start.wrapping_add(offset as u64);
            let step = match self.decode(&fragment, offset, decoder, context) {
                // Where nothing can be decoded, the state is known, and nothing after it.
                None if is_entered && is_whole => self.add_undecoded(address, context),
                step => step,
            };
            let Some(Decoded { length, next, has_effects }) = step else {
                self.not_code.insert(address);
                break NO_INDEX;
            };
            let number = u32::try_from(number).unwrap_or(NO_INDEX);
            offset = offset.saturating_add(usize::from(length));
            if let Some(index) = self.buffers.index.get_mut(slot) {
                *index = number;
            }
            before = number;
            // If the call does not return, this is the target of jumps in other functions only, and has another stack; or it
            // is the trap that a compiler puts there.
            if is_after_call && (next == ControlFlow::Stop || context.is_entered_elsewhere(address))
            {
                self.start_block_at(number);
            }
            is_after_call &= !has_effects && next == ControlFlow::Following;
            let goes_on = match next {
                ControlFlow::Following | ControlFlow::SystemCall => true,
                ControlFlow::Jump(to) | ControlFlow::Branch(to, _) => {
                    targets.extend(self.contains(to).then_some(to));
                    if to <= address {
                        self.note_back_edge(to);
                    }
                    matches!(next, ControlFlow::Branch(..))
                }
                ControlFlow::Call(_) | ControlFlow::IndirectCall | ControlFlow::CallBy(_) => {
                    is_after_call = true;
                    targets.extend(self.exceptions.pad_of(address));
                    let never_returns =
                        matches!(next, ControlFlow::Call(to) if context.never_returns(to));
                    if never_returns {
                        self.mark_no_return(number);
                    }
                    !never_returns
                }
                ControlFlow::NoReturnCall => {
                    targets.extend(self.exceptions.pad_of(address));
                    false
                }
                ControlFlow::Indirect(_) | ControlFlow::Return | ControlFlow::Stop => false,
            };
            if !goes_on {
                break NO_INDEX;
            }
        };
        if before != NO_INDEX {
            self.link(before, following);
        }
        let decoded = self.buffers.steps.len().saturating_sub(decoded);
        let starts = self.starts_within(start..first.saturating_add(offset));
        self.may_overlap |= usize::try_from(starts).is_ok_and(|starts| starts > decoded);
    }

    /// Decodes an instruction and its transfer function. `None` if there is none.
    #[inline]
    fn decode(
        &mut self,
        fragment: &Fragment<'c>,
        offset: usize,
        decoder: &mut impl Decoder<'c>,
        context: &impl FileContext<'c>,
    ) -> Option<Decoded> {
        let address = fragment.start.wrapping_add(offset as u64);
        let first_effect = self.buffers.effects.len();
        let decoded = decoder.decode(fragment.code, offset, address, &mut self.buffers.effects);
        let Some((length, next)) = decoded else {
            self.buffers.effects.truncate(first_effect);
            return None;
        };
        let effects = self.buffers.effects.get_mut(first_effect..).unwrap_or_default();
        let mut next = context.relocate(address, length, next, effects);
        let end = address.wrapping_add(length.into());
        // At the end of the code, it is a call of the function that starts there.
        if next == ControlFlow::Call(end) && fragment.offset(end).is_some() {
            next = ControlFlow::Following;
            self.buffers.effects.truncate(first_effect);
            self.buffers.effects.extend(context.conventions().call_of_next);
        }
        if let ControlFlow::Call(to) = next
            && !context.keeps_registers(to)
        {
            let kept = kept(context.conventions(), context.abi());
            for effect in self.buffers.effects.get_mut(first_effect..).unwrap_or_default() {
                if let Effect::Call(set) = effect {
                    *set |= kept;
                }
            }
        }
        self.add_step(address, (length, next), first_effect)
    }

    /// Adds bytes that control reaches, from an instruction or by entering the function there, and that cannot be decoded.
    #[cold]
    fn add_undecoded(&mut self, address: u64, context: &impl FileContext<'c>) -> Option<Decoded> {
        let length = context.conventions().shortest_instruction;
        self.undecoded.insert(address, address.wrapping_add(length.into()));
        self.add_step(address, (length, ControlFlow::Stop), self.buffers.effects.len())
    }

    /// Adds an instruction whose effects are those from the number `first_effect` on.
    #[inline(always)]
    fn add_step(
        &mut self,
        address: u64,
        (length, next): (u8, ControlFlow),
        first_effect: usize,
    ) -> Option<Decoded> {
        let number = u32::try_from(self.buffers.steps.len()).ok()?;
        let effects = self.buffers.effects.get(first_effect..).unwrap_or_default();
        let has_effects = !effects.is_empty();
        self.buffers.steps.push(Step {
            address,
            length,
            effect_count: u8::try_from(effects.len()).ok()?,
            first_effect: u32::try_from(first_effect).ok()?,
            subjects: effects.iter().fold(RegisterSet::default(), |all, e| all.with(e.subjects())),
            never_returns: false,
            next,
            following: number.checked_add(1)?,
            block: NO_INDEX,
            starts_loop: false,
        });
        Some(Decoded { length, next, has_effects })
    }

    /// Notes that a call does not return. Returns false if that is known.
    pub(super) fn mark_no_return(&mut self, call: u32) -> bool {
        let step = usize::try_from(call).ok().and_then(|call| self.buffers.steps.get_mut(call));
        step.is_some_and(|step| !core::mem::replace(&mut step.never_returns, true))
    }

    /// The number of instructions that start in a range of bytes.
    fn starts_within(&self, bytes: Range<usize>) -> u32 {
        let index = self.buffers.index.get(bytes).unwrap_or_default();
        index.iter().map(|number| u32::from(*number != NO_INDEX)).sum()
    }

    /// Whether the bytes before one may be the start of an instruction that contains it.
    fn is_within_instruction(&self, byte: usize) -> bool {
        let before =
            self.buffers.index.get(byte.saturating_sub(usize::from(LONGEST_INSTRUCTION) - 1)..byte);
        (1..).zip(before.unwrap_or_default().iter().rev()).any(|(distance, number)| {
            self.step(*number).is_some_and(|step| usize::from(step.length) > distance)
        })
    }

    /// Notes which instruction comes after one.
    fn link(&mut self, number: u32, following: u32) {
        let step = usize::try_from(number).ok().and_then(|n| self.buffers.steps.get_mut(n));
        if let Some(step) = step {
            step.following = following;
        }
    }

    /// Notes that a back edge leads to an address, if the instruction there was decoded.
    fn note_back_edge(&mut self, address: u64) {
        let number = self.step_at(address).and_then(|number| usize::try_from(number).ok());
        if let Some(step) = number.and_then(|number| self.buffers.steps.get_mut(number)) {
            step.starts_loop = true;
        }
    }

    /// Whether a block is the head of a loop.
    pub(super) fn starts_loop(&self, block: u32) -> bool {
        let first = self.first_step(block).and_then(|step| self.step(step));
        first.is_some_and(|step| step.starts_loop)
    }

    /// Starts a block at an address, if there is an instruction.
    fn start_block(&mut self, address: u64) {
        if let Some(number) = self.step_at(address) {
            self.start_block_at(number);
        }
    }

    /// Starts a block with an instruction.
    fn start_block_at(&mut self, number: u32) {
        let step = usize::try_from(number).ok().and_then(|n| self.buffers.steps.get_mut(n));
        let Some(step) = step.filter(|step| step.block == NO_INDEX) else { return };
        let block = u32::try_from(self.buffers.blocks.len()).ok();
        let Some(block) = block.filter(|block| *block < MAX_BLOCKS) else {
            self.is_too_large = true;
            return;
        };
        step.block = block;
        self.buffers.blocks.push(number);
    }
}
