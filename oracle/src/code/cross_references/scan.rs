//! The cross references in the code of functions.

use core::ops::Range;

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use sframe_validator::unwind::CodeAddress;

use super::super::context::Fragment;
use super::super::effect::{ControlFlow, Decoder};
use super::super::image::Image;
use super::super::machine::{Machine, WithDecoder};
use super::super::padding::{Filling, Paddings};
use super::super::recent_addresses::RecentAddresses;
use super::super::relocation::RelocationTarget;
use super::no_return::Candidate;

/// The maximum number of jumps to other functions in one that may never return.
const MAX_EXITS: usize = 8;

/// Some of a file's functions, to be examined by a thread.
pub(super) struct Functions<'i, 'e> {
    pub(super) machine: Machine,
    pub(super) image: &'i Image<'e>,
    pub(super) numbers: Range<usize>,
}

/// The cross references in some functions.
#[derive(Default)]
pub(super) struct Found {
    /// The targets of direct calls.
    pub(super) called: Vec<CodeAddress>,
    /// The targets of calls in the same function, apart from its start.
    pub(super) local: Vec<CodeAddress>,
    /// Jumps from one function into another: the index of the other, the target, and the index of the one.
    pub(super) jumps: Vec<(usize, u64, usize)>,
    /// The addresses of code and data that instructions contain.
    pub(super) referenced: Vec<u64>,
    /// The functions that may never return.
    pub(super) candidates: Vec<Candidate>,
}

impl<'e> WithDecoder<'e> for Functions<'_, 'e> {
    /// `called`, `jumps` and `referenced` are ordered.
    type Output = Found;

    fn run(self, decoder: &mut impl Decoder<'e>) -> Found {
        let mut found = Found::default();
        let mut recent = [RecentAddresses::none(), RecentAddresses::none()];
        for number in self.numbers {
            let function = (self.machine, self.image, number);
            let candidate = found.function(function, decoder, &mut recent);
            found.candidates.extend(candidate);
        }
        found.called.sort_unstable();
        found.called.dedup();
        found.jumps.sort_unstable();
        found.jumps.dedup();
        found.referenced.sort_unstable();
        found.referenced.dedup();
        found
    }
}

/// Whether control goes on after the last instruction of a function, in the next one.
pub(super) fn falls_through(image: &Image<'_>, machine: Machine, function: usize) -> bool {
    next_function(image, function).is_some()
        && machine
            .decode(LastInstructions { image, function })
            .is_some_and(|tail| tail.falls_through(machine))
}

/// The end of a function, if another one starts there.
fn next_function(image: &Image<'_>, function: usize) -> Option<CodeAddress> {
    let range = image.functions().get(function)?;
    let end = CodeAddress { address: range.end, ..range.start };
    image.starts_at(end).then_some(end)
}

/// The last instructions of a function, to be examined.
struct LastInstructions<'i, 'e> {
    image: &'i Image<'e>,
    function: usize,
}

impl<'e> WithDecoder<'e> for LastInstructions<'_, 'e> {
    type Output = Option<Tail<'e>>;

    fn run(self, decoder: &mut impl Decoder<'e>) -> Option<Tail<'e>> {
        let LastInstructions { image, function } = self;
        let fragment = image.fragment(function)?;
        let section = image.functions().get(function)?.start.section;
        Some(instructions(image, &fragment, section, decoder, |_| {}))
    }
}

/// The end of a function's code: the instructions after the last one that is a jump or a call, or traps.
struct Tail<'e> {
    code: &'e [u8],
    /// What kind of instruction comes before it.
    before: Filling,
    /// All of it could be decoded.
    is_decoded: bool,
}

impl Tail<'_> {
    /// Whether control comes to its end: it is neither empty nor padding, nor data.
    fn falls_through(&self, machine: Machine) -> bool {
        let is_padding = || {
            let mut paddings = Paddings::after(self.before);
            machine.search_padding(self.code, &mut paddings);
            paddings.found().first() == Some(&(0..self.code.len()))
        };
        self.is_decoded && !self.code.is_empty() && !is_padding()
    }
}

/// A function by its number, if it may never return.
pub(super) fn candidate(image: &Image<'_>, machine: Machine, function: usize) -> Option<Candidate> {
    let numbers = function..function.saturating_add(1);
    machine.decode(Functions { machine, image, numbers }).candidates.pop()
}

/// Jumps from functions into landing pads in other functions.
#[derive(Debug)]
pub(super) struct LandingPads(Vec<(usize, u64, usize)>);

impl LandingPads {
    pub(super) fn of(image: &Image<'_>) -> LandingPads {
        let jumps = (0..image.functions().len()).into_par_iter().flat_map_iter(|number| {
            let mut found = Found::default();
            found.landing_pads(image, number);
            found.jumps
        });
        let mut jumps: Vec<_> = jumps.collect();
        jumps.sort_unstable();
        LandingPads(jumps)
    }

    /// The numbers of the functions with landing pads in another.
    pub(super) fn sources_of(&self, function: usize) -> impl Iterator<Item = usize> {
        let first = self.0.partition_point(|(into, ..)| *into < function);
        let jumps = self.0.get(first..).unwrap_or_default().iter();
        jumps.take_while(move |(into, ..)| *into == function).map(|(.., from)| *from)
    }
}

impl Found {
    /// Adds the jumps into landing pads in other functions. Returns the function's code and its start.
    fn landing_pads<'e>(
        &mut self,
        image: &Image<'e>,
        index: usize,
    ) -> Option<(Fragment<'e>, CodeAddress)> {
        let (fragment, start) = (image.fragment(index)?, image.functions().get(index)?.start);
        let place = |address| CodeAddress { section: start.section, address };
        for pad in image.landing_pads(start, &fragment).map_or_else(Vec::new, |(_, pads)| pads) {
            self.jump(image, index, place(pad.pad));
        }
        Some((fragment, start))
    }

    /// Finds those in a function. Returns the function if it has no return instruction. What was called and referred to
    /// recently is not added again.
    fn function<'e>(
        &mut self,
        (machine, image, index): (Machine, &Image<'e>, usize),
        decoder: &mut impl Decoder<'e>,
        [called, referenced]: &mut [RecentAddresses; 2],
    ) -> Option<Candidate> {
        let (fragment, start) = self.landing_pads(image, index)?;
        let mut candidate = Some(Candidate { start, exits: Vec::new() });
        let tail = instructions(image, &fragment, start.section, decoder, |reference| {
            match reference {
                CrossReference::Address(address) => {
                    if referenced.is_new(CodeAddress::absolute(address)) {
                        self.referenced.push(address);
                    }
                }
                CrossReference::Call(target)
                    if fragment.offset(image.flat(target)).is_some_and(|at| at != 0) =>
                {
                    self.local.push(target);
                }
                CrossReference::Call(target) => {
                    if called.is_new(target) {
                        self.called.push(target);
                    }
                }
                CrossReference::Jump(target) if fragment.offset(image.flat(target)).is_some() => {}
                CrossReference::Jump(target) => {
                    self.jump(image, index, target);
                    if let Some(candidate) = candidate.as_mut() {
                        candidate.exits.push(target);
                    }
                }
                CrossReference::Exit => candidate = None,
            }
            if candidate.as_ref().is_some_and(|candidate| candidate.exits.len() > MAX_EXITS) {
                candidate = None;
            }
        });
        if let Some(candidate) = candidate.as_mut()
            && let Some(next) = next_function(image, index).filter(|_| tail.falls_through(machine))
        {
            candidate.exits.push(next);
        }
        candidate
    }

    /// Adds a jump, if it leads to another function.
    fn jump(&mut self, image: &Image<'_>, from: usize, place: CodeAddress) {
        let Some(other) = image.find(place).filter(|other| *other != from) else { return };
        self.jumps.push((other, place.address, from));
    }
}

/// A cross reference of an instruction.
enum CrossReference {
    /// The address of code or data.
    Address(u64),
    /// A direct call.
    Call(CodeAddress),
    /// A direct jump or branch.
    Jump(CodeAddress),
    /// A return, or a jump to an unknown place.
    Exit,
}

/// Passes the cross references of a function's instructions, from its start to its end, to `visit`. Returns the tail.
fn instructions<'e>(
    image: &Image<'_>,
    fragment: &Fragment<'e>,
    section: u32,
    decoder: &mut impl Decoder<'e>,
    mut visit: impl FnMut(CrossReference),
) -> Tail<'e> {
    let relocations = image.relocations();
    let here = |address| CodeAddress { section, address };
    let mut place = image.place(fragment.start);
    let (mut offset, mut tail, mut is_decoded) = (0, 0, true);
    while offset < fragment.code.len() {
        let Some(preview) = decoder.preview(fragment.code, offset, place.address) else {
            // Bytes that are no instruction may be data in code.
            is_decoded = false;
            offset += 1;
            place.address = place.address.wrapping_add(1);
            continue;
        };
        offset += usize::from(preview.length);
        let end = place.address.wrapping_add(u64::from(preview.length));
        if !preview.next.is_direct()
            && let Some(address) = image.reference(place, &preview)
        {
            visit(CrossReference::Address(address));
        }
        if let Some(to) = relocations.branch(place) {
            visit(CrossReference::Jump(to));
        }
        if preview.next != ControlFlow::Following {
            if !matches!(preview.next, ControlFlow::Branch(..)) {
                (tail, is_decoded) = (offset, true);
            }
            let is_no_return = |pointer: u64| image.no_return_imports().has_pointer(pointer);
            let reference = match (preview.next, relocations.target(place, preview.length)) {
                (ControlFlow::Call(target), None) => {
                    let is_push = target == end && offset < fragment.code.len();
                    (!is_push).then_some(CrossReference::Call(here(target)))
                }
                (ControlFlow::Call(_), Some(RelocationTarget::Place(target))) => {
                    Some(CrossReference::Call(target))
                }
                (ControlFlow::Jump(target) | ControlFlow::Branch(target, _), None) => {
                    Some(CrossReference::Jump(here(target)))
                }
                (
                    ControlFlow::Jump(_) | ControlFlow::Branch(..),
                    Some(RelocationTarget::Place(target)),
                ) => Some(CrossReference::Jump(target)),
                (
                    ControlFlow::Jump(_) | ControlFlow::Branch(..),
                    Some(RelocationTarget::NoReturn),
                ) => None,
                (ControlFlow::Indirect(_), None) if preview.refers.is_some_and(is_no_return) => {
                    None
                }
                (ControlFlow::Jump(_) | ControlFlow::Branch(..), Some(_))
                | (ControlFlow::Return | ControlFlow::Indirect(_), _) => Some(CrossReference::Exit),
                _ => None,
            };
            reference.into_iter().for_each(&mut visit);
        }
        place.address = end;
    }
    let code = fragment.code.get(tail..).unwrap_or_default();
    let before = if tail == 0 { Filling::Other } else { Filling::End };
    Tail { code, before, is_decoded }
}
