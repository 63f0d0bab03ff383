//! A look at all code of a file: which functions are called, and what leads from one to another.

use core::ops::Range;

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use sframe_validator::Abi;
use sframe_validator::elf::{ElfKind, ElfSection, SHF_ALLOC};
use sframe_validator::unwind::CodeAddress;

use super::decoder::Machine;
use super::effect::{Decoder, Next};
use super::image::{Image, SHT_NOBITS};
use super::places::Places;
use super::recent::Recent;
use super::relocated::Lead;
use super::surroundings::Part;

const SHT_RELA: u32 = 4;
/// The size of an entry of `SHT_RELA`, in bytes.
const RELA: usize = 24;
/// The number of functions that a thread scans at a time.
const GROUP: usize = 512;
/// The maximum number of jumps out of a function that may never return.
const MOST_EXITS: usize = 8;
/// The maximum length of a chain of functions that never return because the next one does not.
const LONGEST_CHAIN: usize = 16;

/// What leads to functions, and from one to another.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Scan {
    /// The places that direct calls lead to, ordered.
    called: Vec<CodeAddress>,
    /// Those to which only calls in the same function lead, apart from its start; ordered.
    local: Vec<CodeAddress>,
    /// Jumps out of a function into another: the index of the other, the place, and the index of the function; ordered.
    jumps: Vec<(usize, u64, usize)>,
    /// The addresses that jumps from other functions lead to.
    entered: Places,
    /// The addresses of code and data that instructions contain, ordered.
    referenced: Vec<u64>,
    /// The starts of functions that data contains, ordered.
    pointers: Vec<u64>,
    /// The addresses of functions that never return.
    endless: Places,
}

/// A function that may never return, and the targets of its jumps to other functions.
struct Candidate {
    start: CodeAddress,
    exits: Vec<CodeAddress>,
}

impl Scan {
    /// Scans the code of a file for a machine. `entries` are called from elsewhere. The threads of the current `rayon` pool
    /// scan groups of functions. `None` if the machine's code is not examined.
    pub(super) fn of(image: &Image<'_>, entries: Vec<CodeAddress>, abi: Abi) -> Option<Scan> {
        Scan::in_groups(GROUP, image, entries, abi)
    }

    /// Scans the code in groups of `size` functions.
    fn in_groups(
        size: usize,
        image: &Image<'_>,
        entries: Vec<CodeAddress>,
        abi: Abi,
    ) -> Option<Scan> {
        let count = image.functions().len();
        let groups = (0..count.div_ceil(size)).into_par_iter().map(|group| {
            let first = group * size;
            Scan::functions(image, first..first.saturating_add(size).min(count), abi)
        });
        let mut scan = Scan { called: entries, ..Scan::default() };
        let mut candidates = Vec::new();
        for (mut group, mut endless) in groups.collect::<Option<Vec<_>>>()? {
            scan.called.append(&mut group.called);
            scan.local.append(&mut group.local);
            scan.jumps.append(&mut group.jumps);
            scan.referenced.append(&mut group.referenced);
            candidates.append(&mut endless);
        }
        scan.find_pointers(image);
        // Groups are in the order of addresses, and the sort knows what is in order already.
        scan.called.sort();
        scan.called.dedup();
        scan.local.sort_unstable();
        scan.local.dedup();
        scan.local.retain(|place| scan.called.binary_search(place).is_err());
        scan.called.extend_from_slice(&scan.local);
        scan.called.sort();
        scan.jumps.sort();
        scan.jumps.dedup();
        for places in [&mut scan.referenced, &mut scan.pointers] {
            places.sort();
            places.dedup();
        }
        scan.entered = scan.targets(image);
        scan.endless = endless(candidates, image);
        Some(scan)
    }

    /// The addresses that jumps from other functions lead to.
    fn targets(&self, image: &Image<'_>) -> Places {
        let section = |function: usize| Some(image.functions().get(function)?.start.section);
        let targets = self.jumps.iter().filter_map(|(function, address, _)| {
            let section = section(*function)?;
            Some(image.flat(CodeAddress { section, address: *address }))
        });
        Places::of(targets.collect())
    }

    /// Scans some functions. Returns also those that may never return.
    fn functions(
        image: &Image<'_>,
        numbers: Range<usize>,
        abi: Abi,
    ) -> Option<(Scan, Vec<Candidate>)> {
        let (mut scan, mut candidates) = (Scan::default(), Vec::new());
        let mut recent = [Recent::none(), Recent::none()];
        match Machine::of(abi)? {
            Machine::Amd64(mut it) => {
                let function = |n| scan.function(image, n, &mut *it, &mut recent);
                candidates.extend(numbers.filter_map(function));
            }
            Machine::Aarch64(mut it) => {
                let function = |n| scan.function(image, n, &mut it, &mut recent);
                candidates.extend(numbers.filter_map(function));
            }
        }
        scan.called.sort_unstable();
        scan.called.dedup();
        scan.jumps.sort_unstable();
        scan.jumps.dedup();
        scan.referenced.sort_unstable();
        scan.referenced.dedup();
        Some((scan, candidates))
    }

    /// Whether a direct call leads to a place.
    pub(super) fn is_called(&self, place: CodeAddress) -> bool {
        self.called.binary_search(&place).is_ok()
    }

    /// Whether only calls in the same function lead to a place.
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
    pub(super) fn is_endless(&self, address: u64) -> bool {
        self.endless.contains(address)
    }

    /// Whether functions contain jumps to an [address](Image::flat) in another one.
    pub(super) fn is_jump_target(&self, address: u64) -> bool {
        self.entered.contains(address)
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

    /// Scans a function. Returns it if it has no return. `recent` has places that were called and referred to.
    fn function<'e>(
        &mut self,
        image: &Image<'e>,
        index: usize,
        decoder: &mut impl Decoder<'e>,
        [called, referenced]: &mut [Recent; 2],
    ) -> Option<Candidate> {
        let (part, start) = (image.part(index)?, image.functions().get(index)?.start);
        let place = |address| CodeAddress { section: start.section, address };
        for pad in image.landing_pads(start, &part).map_or_else(Vec::new, |(_, pads)| pads) {
            self.jump(image, index, place(pad.pad));
        }
        let mut candidate = Some(Candidate { start, exits: Vec::new() });
        instructions(image, &part, start.section, decoder, |way| {
            match way {
                Way::Reference(address) => {
                    if referenced.is_new(CodeAddress::absolute(address)) {
                        self.referenced.push(address);
                    }
                }
                Way::Call(target) if part.offset(image.flat(target)).is_some_and(|at| at != 0) => {
                    self.local.push(target);
                }
                Way::Call(target) => {
                    if called.is_new(target) {
                        self.called.push(target);
                    }
                }
                Way::Jump(target) if part.offset(image.flat(target)).is_some() => {}
                Way::Jump(target) => {
                    self.jump(image, index, target);
                    if let Some(candidate) = candidate.as_mut() {
                        candidate.exits.push(target);
                    }
                }
                Way::Out => candidate = None,
            }
            if candidate.as_ref().is_some_and(|candidate| candidate.exits.len() > MOST_EXITS) {
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

    /// Adds the functions to which words point; `words` are pairs of a place and a word. Where adjacent words point to the
    /// middle of functions as well, they are a jump table, which may lead to parts of functions. Words that point to code of
    /// no known function do not count: `.init_array` has such pointers, and is next to other data.
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

/// The functions that never return: those without a return, all of whose jumps to other functions lead to such functions.
fn endless(mut candidates: Vec<Candidate>, image: &Image<'_>) -> Places {
    let mut endless: Vec<CodeAddress> = Vec::new();
    for _ in 0..LONGEST_CHAIN {
        let is_endless = |candidate: &Candidate| {
            candidate.exits.iter().all(|exit| endless.binary_search(exit).is_ok())
        };
        let (more, rest): (Vec<_>, Vec<_>) = candidates.into_iter().partition(is_endless);
        if more.is_empty() {
            break;
        }
        endless.extend(more.iter().map(|candidate| candidate.start));
        endless.sort_unstable();
        candidates = rest;
    }
    Places::of(endless.into_iter().map(|start| image.flat(start)).collect())
}

/// Where an instruction leads to.
enum Way {
    /// It contains the address of code or data.
    Reference(u64),
    /// It calls the function there.
    Call(CodeAddress),
    /// It jumps there.
    Jump(CodeAddress),
    /// It returns, or jumps to an unknown place.
    Out,
}

/// Passes where the instructions of a function lead to, from its start to its end, to `found`.
fn instructions<'e>(
    image: &Image<'_>,
    part: &Part<'e>,
    section: u32,
    decoder: &mut impl Decoder<'e>,
    mut found: impl FnMut(Way),
) {
    let relocated = image.relocated();
    let here = |address| CodeAddress { section, address };
    let mut place = image.place(part.start);
    let mut offset = 0;
    while offset < part.code.len() {
        let Some(glance) = decoder.glance(part.code, offset, place.address) else {
            // Bytes that are no instruction may be data in code.
            offset += 1;
            place.address = place.address.wrapping_add(1);
            continue;
        };
        offset += usize::from(glance.length);
        let end = place.address.wrapping_add(u64::from(glance.length));
        if !glance.next.is_direct()
            && let Some(address) = image.reference(place, &glance)
        {
            found(Way::Reference(address));
        }
        if let Some(to) = relocated.branch(place) {
            found(Way::Jump(to));
        }
        if glance.next != Next::Following {
            let way = match (glance.next, relocated.lead(place, glance.length)) {
                (Next::Call(target), None) => (target != end).then_some(Way::Call(here(target))),
                (Next::Call(_), Some(Lead::Place(target))) => Some(Way::Call(target)),
                (Next::Jump(target) | Next::Branch(target, _), None) => {
                    Some(Way::Jump(here(target)))
                }
                (Next::Jump(_) | Next::Branch(..), Some(Lead::Place(target))) => {
                    Some(Way::Jump(target))
                }
                (Next::Jump(_) | Next::Branch(..), Some(Lead::Endless)) => None,
                (Next::Jump(_) | Next::Branch(..), Some(_))
                | (Next::Return | Next::Indirect(_), _) => Some(Way::Out),
                _ => None,
            };
            way.into_iter().for_each(&mut found);
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
    use crate::code::bounds;

    /// Every golden file, in groups of one function and of all.
    #[test]
    fn groups_change_nothing() {
        let mut jumps = 0;
        for path in sframe_corpus::golden(&["o", "so", "exe"]) {
            let file = std::fs::read(&path).expect("readable");
            let Ok(elf) = Elf::parse(&file) else { continue };
            let Some(abi) = elf.abi().filter(|abi| Machine::of(*abi).is_some()) else { continue };
            let cfi = Cfi::load_all(&elf).expect("readable");
            let functions = bounds::functions(&elf, &[], &cfi);
            let image = Image::of(Cow::Borrowed(&elf), Cow::Borrowed(&cfi), functions);
            let scan = |size| Scan::in_groups(size, &image, Vec::new(), abi).expect("a machine");
            let one_by_one = scan(1);
            assert_eq!(one_by_one, scan(usize::MAX), "{}", path.display());
            jumps += one_by_one.jumps.len();
        }
        assert!(jumps > 100, "{jumps}");
    }
}
