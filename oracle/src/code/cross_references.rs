//! The pass over all code of a file before any function is analysed: the cross references between functions, from which
//! the call graph, entries, and functions that do not return follow.

use core::ops::Range;

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use sframe_validator::elf::{ElfKind, ElfSection, SHF_ALLOC};
use sframe_validator::unwind::CodeAddress;

use super::address_set::AddressSet;
use super::context::Fragment;
use super::effect::{ControlFlow, Decoder};
use super::image::{Image, SHT_NOBITS};
use super::machine::{Machine, WithDecoder};
use super::recent_addresses::RecentAddresses;
use super::relocation::RelocationTarget;

const SHT_RELA: u32 = 4;
/// The size of an entry of `SHT_RELA`, in bytes.
const RELA: usize = 24;
/// The number of functions that a thread examines at a time.
const GROUP: usize = 512;
/// The maximum number of jumps to other functions in one that may never return.
const MAX_EXITS: usize = 8;
/// The maximum length of a chain of functions that never return because the next one does not.
const LONGEST_CHAIN: usize = 16;

/// The cross references of a file.
#[derive(Debug, Default, PartialEq)]
pub(super) struct CrossReferences {
    /// The targets of direct calls, ordered.
    called: Vec<CodeAddress>,
    /// Those of them, apart from a function's start, that only calls in the same function have; ordered.
    local: Vec<CodeAddress>,
    /// Jumps from one function into another: the index of the other, the target, and the index of the one; ordered.
    jumps: Vec<(usize, u64, usize)>,
    /// The targets of jumps from other functions.
    jump_targets: AddressSet,
    /// The addresses of code and data that instructions contain, ordered.
    referenced: Vec<u64>,
    /// The starts of functions that data contains, ordered.
    pointers: Vec<u64>,
    /// The addresses of functions that never return.
    no_return: AddressSet,
}

/// Some of a file's functions, to be examined by a thread.
struct Functions<'i, 'e> {
    image: &'i Image<'e>,
    numbers: Range<usize>,
}

impl<'e> WithDecoder<'e> for Functions<'_, 'e> {
    /// Their cross references, and those of them that may never return.
    type Output = (CrossReferences, Vec<NoReturnCandidate>);

    fn run(self, decoder: &mut impl Decoder<'e>) -> Self::Output {
        let (mut found, mut candidates) = (CrossReferences::default(), Vec::new());
        let mut recent = [RecentAddresses::none(), RecentAddresses::none()];
        let function = |n| found.function(self.image, n, decoder, &mut recent);
        candidates.extend(self.numbers.filter_map(function));
        found.called.sort_unstable();
        found.called.dedup();
        found.jumps.sort_unstable();
        found.jumps.dedup();
        found.referenced.sort_unstable();
        found.referenced.dedup();
        (found, candidates)
    }
}

/// A function without a return instruction, and the targets of its jumps to other functions.
struct NoReturnCandidate {
    start: CodeAddress,
    exits: Vec<CodeAddress>,
}

impl CrossReferences {
    /// Finds the cross references in a file for a machine. `entries` are called from elsewhere. The threads of the
    /// current `rayon` pool go over groups of functions.
    pub(super) fn of(
        image: &Image<'_>,
        entries: Vec<CodeAddress>,
        machine: Machine,
    ) -> CrossReferences {
        CrossReferences::in_groups(GROUP, image, entries, machine)
    }

    /// Finds them in groups of `size` functions.
    fn in_groups(
        size: usize,
        image: &Image<'_>,
        entries: Vec<CodeAddress>,
        machine: Machine,
    ) -> CrossReferences {
        let count = image.functions().len();
        let groups = (0..count.div_ceil(size)).into_par_iter().map(|group| {
            let first = group * size;
            let numbers = first..first.saturating_add(size).min(count);
            machine.decode(Functions { image, numbers })
        });
        let mut all = CrossReferences { called: entries, ..CrossReferences::default() };
        let mut candidates = Vec::new();
        for (mut group, mut no_return) in groups.collect::<Vec<_>>() {
            all.called.append(&mut group.called);
            all.local.append(&mut group.local);
            all.jumps.append(&mut group.jumps);
            all.referenced.append(&mut group.referenced);
            candidates.append(&mut no_return);
        }
        all.find_pointers(image);
        // Groups are in the order of addresses, and the sort knows what is in order already.
        all.called.sort();
        all.called.dedup();
        all.local.sort_unstable();
        all.local.dedup();
        all.local.retain(|place| all.called.binary_search(place).is_err());
        all.called.extend_from_slice(&all.local);
        all.called.sort();
        all.jumps.sort();
        all.jumps.dedup();
        for places in [&mut all.referenced, &mut all.pointers] {
            places.sort();
            places.dedup();
        }
        all.jump_targets = all.targets(image);
        all.no_return = no_return(candidates, image);
        all
    }

    /// The addresses of the targets of jumps from other functions.
    fn targets(&self, image: &Image<'_>) -> AddressSet {
        let section = |function: usize| Some(image.functions().get(function)?.start.section);
        let targets = self.jumps.iter().filter_map(|(function, address, _)| {
            let section = section(*function)?;
            Some(image.flat(CodeAddress { section, address: *address }))
        });
        AddressSet::of(targets.collect())
    }

    /// Whether a direct call leads to a place.
    pub(super) fn is_called(&self, place: CodeAddress) -> bool {
        self.called.binary_search(&place).is_ok()
    }

    /// Whether a place is not the start of a function, and only calls in the same function lead there.
    pub(super) fn is_local(&self, place: CodeAddress) -> bool {
        self.local.binary_search(&place).is_ok()
    }

    /// The places between two addresses of a section that direct calls lead to.
    pub(super) fn called_within(&self, start: CodeAddress, end: u64) -> &[CodeAddress] {
        let first = self.called.partition_point(|called| *called < start);
        let last =
            self.called.partition_point(|called| *called < CodeAddress { address: end, ..start });
        self.called.get(first..last).unwrap_or_default()
    }

    /// Whether instructions or data contain the address of a function.
    pub(super) fn is_mentioned(&self, address: u64) -> bool {
        self.referenced.binary_search(&address).is_ok()
            || self.pointers.binary_search(&address).is_ok()
    }

    /// The lowest address after this one that an instruction contains.
    pub(super) fn next_referenced(&self, address: u64) -> u64 {
        let after = self.referenced.partition_point(|place| *place <= address);
        self.referenced.get(after).copied().unwrap_or(u64::MAX)
    }

    /// Whether a function that never returns starts at an [address](Image::flat).
    pub(super) fn never_returns(&self, address: u64) -> bool {
        self.no_return.contains(address)
    }

    /// Whether functions contain jumps to an [address](Image::flat) in another one.
    pub(super) fn is_jump_target(&self, address: u64) -> bool {
        self.jump_targets.contains(address)
    }

    /// The functions with jumps into another.
    pub(super) fn sources(&self, function: usize) -> Vec<usize> {
        let first = self.jumps.partition_point(|(into, ..)| *into < function);
        let jumps = self.jumps.get(first..).unwrap_or_default();
        let jumps = jumps.iter().take_while(|(into, ..)| *into == function);
        let mut sources: Vec<usize> = jumps.map(|(.., from)| *from).collect();
        sources.sort_unstable();
        sources.dedup();
        sources
    }

    /// Finds those in a function. Returns the function if it has no return instruction. What was called and referred to
    /// recently is not added again.
    fn function<'e>(
        &mut self,
        image: &Image<'e>,
        index: usize,
        decoder: &mut impl Decoder<'e>,
        [called, referenced]: &mut [RecentAddresses; 2],
    ) -> Option<NoReturnCandidate> {
        let (fragment, start) = (image.fragment(index)?, image.functions().get(index)?.start);
        let place = |address| CodeAddress { section: start.section, address };
        for pad in image.landing_pads(start, &fragment).map_or_else(Vec::new, |(_, pads)| pads) {
            self.jump(image, index, place(pad.pad));
        }
        let mut candidate = Some(NoReturnCandidate { start, exits: Vec::new() });
        instructions(image, &fragment, start.section, decoder, |reference| {
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
        candidate
    }

    /// Adds a jump, if it leads to another function.
    fn jump(&mut self, image: &Image<'_>, from: usize, place: CodeAddress) {
        let Some(other) = image.find(place).filter(|other| *other != from) else { return };
        self.jumps.push((other, place.address, from));
    }

    /// Finds the functions whose addresses are in data, or in relocations, which are data too.
    fn find_pointers(&mut self, image: &Image<'_>) {
        let (elf, functions) = (image.elf(), image.functions());
        let (Some(first), Some(last)) = (functions.first(), functions.last()) else { return };
        let is_code = |word: u64| (first.start.address..=last.start.address).contains(&word);
        let has_data = |section: &&ElfSection<'_>| {
            section.flags & SHF_ALLOC != 0 && section.sh_type != SHT_NOBITS && !elf.is_code(section)
        };
        for section in elf.sections().iter().filter(has_data) {
            let data = elf.section_data(section).unwrap_or_default();
            if section.sh_type == SHT_RELA {
                // Each entry has the place of a word and, if the word is an address, that address.
                let entries = data
                    .chunks_exact(RELA)
                    .filter_map(|entry| Some((word(entry, 0)?, word(entry, 16)?)));
                self.add_pointers(image, entries.filter(|(_, word)| is_code(*word)));
            } else if elf.kind() == ElfKind::Executable {
                let words =
                    (0..data.len()).step_by(8).filter_map(|at| Some((at as u64, word(data, at)?)));
                self.add_pointers(image, words.filter(|(_, word)| is_code(*word)));
            }
        }
        if elf.kind() == ElfKind::Shared {
            // Only words with a relocation are addresses.
            let places = elf.dynamic_relocations(0, u64::MAX).unwrap_or_default();
            let words = places
                .into_iter()
                .filter_map(|place| Some((place, word(image.bytes_from(place)?, 0)?)));
            self.add_pointers(image, words.filter(|(_, word)| is_code(*word)));
        }
    }

    /// Adds the functions to which words point; `words` are pairs of a place and a word. Where adjacent words point to
    /// the middle of functions as well, they are a jump table, which may lead to fragments of functions. Words that point
    /// to code of no known function do not count: `.init_array` has such pointers, and is next to other data.
    fn add_pointers(&mut self, image: &Image<'_>, words: impl Iterator<Item = (u64, u64)>) {
        let (mut first, mut is_table, mut end) = (self.pointers.len(), false, u64::MAX);
        for (place, word) in words {
            if place != end {
                (first, is_table) = (self.pointers.len(), false);
            }
            end = place.saturating_add(8);
            let target = CodeAddress::absolute(word);
            if image.find(target).is_none() {
                continue;
            }
            if !image.starts_at(target) {
                is_table = true;
                self.pointers.truncate(first);
            } else if !is_table {
                self.pointers.push(word);
            }
        }
    }
}

/// The functions that never return: those without a return instruction, all of whose jumps to other functions lead to such
/// functions. This is a least fixpoint, so that functions that only jump to each other in a circle count as returning.
fn no_return(mut candidates: Vec<NoReturnCandidate>, image: &Image<'_>) -> AddressSet {
    let mut no_return: Vec<CodeAddress> = Vec::new();
    for _ in 0..LONGEST_CHAIN {
        let never_returns = |candidate: &NoReturnCandidate| {
            candidate.exits.iter().all(|exit| no_return.binary_search(exit).is_ok())
        };
        let (more, rest): (Vec<_>, Vec<_>) = candidates.into_iter().partition(never_returns);
        if more.is_empty() {
            break;
        }
        no_return.extend(more.iter().map(|candidate| candidate.start));
        no_return.sort_unstable();
        candidates = rest;
    }
    AddressSet::of(no_return.into_iter().map(|start| image.flat(start)).collect())
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

/// Passes the cross references of a function's instructions, from its start to its end, to `visit`.
fn instructions<'e>(
    image: &Image<'_>,
    fragment: &Fragment<'e>,
    section: u32,
    decoder: &mut impl Decoder<'e>,
    mut visit: impl FnMut(CrossReference),
) {
    let relocations = image.relocations();
    let here = |address| CodeAddress { section, address };
    let mut place = image.place(fragment.start);
    let mut offset = 0;
    while offset < fragment.code.len() {
        let Some(preview) = decoder.preview(fragment.code, offset, place.address) else {
            // Bytes that are no instruction may be data in code.
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
            let reference = match (preview.next, relocations.target(place, preview.length)) {
                (ControlFlow::Call(target), None) => {
                    (target != end).then_some(CrossReference::Call(here(target)))
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
                (ControlFlow::Jump(_) | ControlFlow::Branch(..), Some(_))
                | (ControlFlow::Return | ControlFlow::Indirect(_), _) => Some(CrossReference::Exit),
                _ => None,
            };
            reference.into_iter().for_each(&mut visit);
        }
        place.address = end;
    }
}

/// The 8 bytes at an offset.
fn word(data: &[u8], offset: usize) -> Option<u64> {
    Some(u64::from_le_bytes(data.get(offset..)?.first_chunk().copied()?))
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use sframe_validator::elf::Elf;

    use super::*;
    use crate::cfi::Cfi;
    use crate::code::function_bounds;

    /// Every golden file, in groups of one function and of all.
    #[test]
    fn groups_change_nothing() {
        let mut jumps = 0;
        for path in sframe_corpus::golden(&["o", "so", "exe"]) {
            let file = std::fs::read(&path).expect("readable");
            let Ok(elf) = Elf::parse(&file) else { continue };
            let Some(machine) = elf.abi().and_then(Machine::of) else { continue };
            let cfi = Cfi::load_all(&elf).expect("readable");
            let functions = function_bounds::functions(&elf, &[], &cfi);
            let image = Image::of(
                Cow::Borrowed(&elf),
                Cow::Borrowed(&cfi),
                functions,
                machine.conventions(),
            );
            let scan = |size| CrossReferences::in_groups(size, &image, Vec::new(), machine);
            let one_by_one = scan(1);
            assert_eq!(one_by_one, scan(usize::MAX), "{}", path.display());
            jumps += one_by_one.jumps.len();
        }
        assert!(jumps > 100, "{jumps}");
    }
}
