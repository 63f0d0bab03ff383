//! Pairs the functions of the two sets.

use std::collections::HashMap;

use sframe_validator::elf::{ElfKind, ElfSection};
use sframe_validator::text::Text;
use sframe_validator::unwind::CodeAddress;

use super::{Bases, Set, Totals};
use crate::witness::{CodeRange, SframeFunction};

/// Functions that belong together and are adjacent in each set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group<'p, 's> {
    /// The symbol or section by which they were paired.
    pub(super) name: Text<'s>,
    /// The base addresses of PCs in each file.
    pub(super) bases: Bases,
    pub(super) first: &'p [SframeFunction],
    pub(super) second: &'p [SframeFunction],
}

impl Group<'_, '_> {
    /// The origin of the places of one set's functions. If they were paired by name, it is in their own section,
    /// because section numbers differ between files.
    pub(super) fn origin(&self, functions: &[SframeFunction], base: u64) -> CodeAddress {
        let section = match functions.first() {
            Some(function) if !self.name.is_empty() => function.start.section,
            _ => 0,
        };
        CodeAddress { section, address: base }
    }

    /// The code that the group may describe.
    pub(super) fn code(&self) -> CodeRange {
        let any = self.first.first().or(self.second.first());
        let section = any.filter(|_| self.name.is_empty()).map_or(0, |any| any.start.section);
        CodeRange { start: CodeAddress { section, address: 0 }, end: u64::MAX }
    }
}

/// Groups functions whose code overlaps, directly or through others.
pub(super) fn by_address<'p, 's>(
    first: &'p [SframeFunction],
    second: &'p [SframeFunction],
) -> Vec<Group<'p, 's>> {
    let mut groups = Vec::with_capacity(first.len().max(second.len()));
    let (mut a, mut b) = (first, second);
    loop {
        let next = [a.first(), b.first()].into_iter().flatten().min_by_key(|place| place.start);
        let Some(next) = next else { return groups };
        let mut end = end_of(next);
        let inside = |place: &SframeFunction, end: CodeAddress| {
            // At the very last address, even the first function ends where it starts.
            place.start == next.start || place.start < end
        };
        let (mut in_first, mut in_second) = (0, 0);
        loop {
            let reaching = match (a.get(in_first), b.get(in_second)) {
                (Some(place), _) if inside(place, end) => {
                    in_first += 1;
                    place
                }
                (_, Some(place)) if inside(place, end) => {
                    in_second += 1;
                    place
                }
                _ => break,
            };
            end = end.max(end_of(reaching));
        }
        let (first, rest) = a.split_at(in_first);
        a = rest;
        let (second, rest) = b.split_at(in_second);
        b = rest;
        groups.push(Group { name: Text::default(), bases: Bases::default(), first, second });
    }
}

/// The end of the function, exclusive.
fn end_of(place: &SframeFunction) -> CodeAddress {
    let address = place.start.address.saturating_add(place.size.into());
    CodeAddress { section: place.start.section, address }
}

/// Groups functions with the same symbol, then the stubs of sections with the same name.
pub(super) fn by_symbol<'p, 's>(
    first: &'p [SframeFunction],
    second: &'p [SframeFunction],
    first_set: &Set<'s>,
    second_set: &Set<'s>,
    totals: &mut Totals,
) -> Vec<Group<'p, 's>> {
    let mut stubs = Vec::new();
    // The functions of the second set by name; the next one to be used is the last.
    let mut waiting: HashMap<Text<'s>, Vec<&'p SframeFunction>> = HashMap::new();
    for place in second.iter().rev() {
        match name(second_set, place) {
            Some(Name::Symbol(name)) => waiting.entry(name).or_default().push(place),
            Some(Name::Stubs(section)) => stubs.push(section.name),
            None => totals.unnamed_second += 1,
        }
    }
    let mut groups = Vec::with_capacity(first.len());
    for place in first {
        match name(first_set, place) {
            Some(Name::Symbol(name)) => {
                let partner = waiting.get_mut(&name).and_then(Vec::pop);
                groups.push(pair(name, Some(place), partner));
            }
            Some(Name::Stubs(section)) => stubs.push(section.name),
            None => totals.unnamed_first += 1,
        }
    }
    let mut left: Vec<(Text<'_>, &SframeFunction)> = waiting
        .into_iter()
        .flat_map(|(name, places)| places.into_iter().map(move |place| (name, place)))
        .collect();
    left.sort_by_key(|(_, place)| (place.start, place.index));
    groups.extend(left.into_iter().map(|(name, place)| pair(name, None, Some(place))));
    stubs.sort_unstable();
    stubs.dedup();
    groups.extend(stubs.into_iter().map(|name| {
        let (first, first_base) = of_stubs(first, first_set, name);
        let (second, second_base) = of_stubs(second, second_set, name);
        Group { name, bases: Bases { first: first_base, second: second_base }, first, second }
    }));
    groups
}

fn pair<'p, 's>(
    name: Text<'s>,
    first: Option<&'p SframeFunction>,
    second: Option<&'p SframeFunction>,
) -> Group<'p, 's> {
    let start = |place: Option<&SframeFunction>| place.map_or(0, |place| place.start.address);
    let slice = |place: Option<&'p SframeFunction>| place.map_or(&[][..], std::slice::from_ref);
    Group {
        name,
        bases: Bases { first: start(first), second: start(second) },
        first: slice(first),
        second: slice(second),
    }
}

/// The functions in the section of stubs with this name, and its address.
fn of_stubs<'p>(
    places: &'p [SframeFunction],
    set: &Set<'_>,
    name: Text<'_>,
) -> (&'p [SframeFunction], u64) {
    let Some(section) = stubs(set).find(|section| section.name == name) else { return (&[], 0) };
    let (start, end) = (section.address, section.address.saturating_add(section.size));
    let from = places.partition_point(|place| place.start.address < start);
    let to = places.partition_point(|place| place.start.address < end);
    (places.get(from..to).unwrap_or_default(), start)
}

fn stubs<'r, 's>(set: &Set<'s>) -> impl Iterator<Item = &'s ElfSection<'s>> + use<'r, 's> {
    let linked = set.elf.kind() != ElfKind::Relocatable;
    set.elf.code_sections().filter(move |section| linked && section.is_stubs())
}

/// The name by which a function is matched.
enum Name<'s> {
    /// The symbol at its start.
    Symbol(Text<'s>),
    /// The section of the linker's stubs that contains it.
    Stubs(&'s ElfSection<'s>),
}

fn name<'s>(set: &Set<'s>, place: &SframeFunction) -> Option<Name<'s>> {
    let at_start = set.symbols.find(place.start).filter(|symbol| symbol.start == place.start);
    let symbol = at_start.map(|symbol| symbol.name).filter(|name| !name.is_empty());
    let section = || stubs(set).find(|section| section.contains(place.start.address, 1));
    symbol.map(Name::Symbol).or_else(|| section().map(Name::Stubs))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(index: u32, address: u64, size: u32) -> SframeFunction {
        SframeFunction { start: CodeAddress { section: 0, address }, size, section: 0, index }
    }

    /// The groups, as the functions' numbers.
    fn groups(first: &[SframeFunction], second: &[SframeFunction]) -> Vec<(Vec<u32>, Vec<u32>)> {
        let numbers = |places: &[SframeFunction]| places.iter().map(|place| place.index).collect();
        let groups = by_address(first, second);
        groups.iter().map(|group| (numbers(group.first), numbers(group.second))).collect()
    }

    #[test]
    fn functions_that_overlap_are_one_group() {
        let first = [place(0, 0x10, 0x10), place(1, 0x20, 0x10), place(2, 0x50, 8)];
        let second = [place(0, 0x10, 0x10), place(1, 0x28, 0x10), place(2, 0x30, 4)];
        let wanted = [(vec![0], vec![0]), (vec![1], vec![1, 2]), (vec![2], vec![])];
        assert_eq!(groups(&first, &second), wanted);
    }

    #[test]
    fn a_function_at_the_last_address_ends_the_list() {
        let last = [place(0, u64::MAX, 4)];
        assert_eq!(groups(&last, &last), [(vec![0], vec![0])]);
        assert_eq!(groups(&[], &last), [(vec![], vec![0])]);
    }
}
