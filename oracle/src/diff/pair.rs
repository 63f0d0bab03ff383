//! Pairs the functions of the two sets.

use std::collections::HashMap;

use sframe_validator::elf::{ElfKind, ElfSection, Symbol};
use sframe_validator::text::Text;
use sframe_validator::unwind::CodeAddress;

use super::{Bases, Function, Set, Totals};
use crate::witness::CodeRange;

/// Functions that belong together and are adjacent in each set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group<'p, 's> {
    /// The symbol or section by which they were paired.
    pub(super) name: Text<'s>,
    /// The base addresses of PCs in each file.
    pub(super) bases: Bases,
    pub(super) first: &'p [Function],
    pub(super) second: &'p [Function],
}

impl Group<'_, '_> {
    /// The function of each set, if neither has more than one.
    pub(super) const fn functions(&self) -> [Option<Function>; 2] {
        match (self.first, self.second) {
            ([first], [second]) => [Some(*first), Some(*second)],
            ([first], []) => [Some(*first), None],
            ([], [second]) => [None, Some(*second)],
            _ => [None, None],
        }
    }

    /// The origin of the places of one set's functions. If they were paired by name, it is in their own section,
    /// because section numbers differ between files.
    pub(super) fn origin(&self, functions: &[Function], base: u64) -> CodeAddress {
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
    first: &'p [Function],
    second: &'p [Function],
) -> Vec<Group<'p, 's>> {
    let mut groups = Vec::with_capacity(first.len().max(second.len()));
    let (mut a, mut b) = (first, second);
    loop {
        let next = [a.first(), b.first()].into_iter().flatten().min_by_key(|place| place.start);
        let Some(next) = next else { return groups };
        let mut end = end_of(next);
        let inside = |place: &Function, end: CodeAddress| {
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
fn end_of(place: &Function) -> CodeAddress {
    CodeAddress { section: place.start.section, address: place.end() }
}

/// The maximum number of names of a function that are looked at. glibc's have up to a dozen.
const MOST_NAMES: usize = 64;

/// Groups functions that have a symbol in common, then the stubs of sections with the same name.
pub(super) fn by_symbol<'p, 's>(
    first: &'p [Function],
    second: &'p [Function],
    first_set: &Set<'s>,
    second_set: &Set<'s>,
    totals: &mut Totals,
) -> Vec<Group<'p, 's>> {
    let (a, b) = (Named::all(first, first_set), Named::all(second, second_set));
    totals.unnamed_first = a.unnamed;
    totals.unnamed_second = b.unnamed;
    let partners = a.partners(&b);
    let mut is_taken = vec![false; b.functions.len()];
    let mut groups = Vec::with_capacity(first.len());
    for ((place, names), partner) in a.functions.iter().zip(&partners) {
        let other = partner.and_then(|(number, _)| {
            *is_taken.get_mut(number)? = true;
            b.functions.get(number).map(|(place, _)| *place)
        });
        let own = names.first().map(|symbol| symbol.name);
        let name = partner.map(|(_, name)| name).or(own).unwrap_or_default();
        groups.push(pair(name, Some(place), other));
    }
    for ((place, names), _) in b.functions.iter().zip(is_taken).filter(|(_, taken)| !taken) {
        let name = names.first().map(|symbol| symbol.name).unwrap_or_default();
        groups.push(pair(name, None, Some(place)));
    }
    let mut stubs = [a.stubs, b.stubs].concat();
    stubs.sort_unstable();
    stubs.dedup();
    groups.extend(stubs.into_iter().map(|name| {
        let (first, first_base) = of_stubs(first, first_set, name);
        let (second, second_base) = of_stubs(second, second_set, name);
        Group { name, bases: Bases { first: first_base, second: second_base }, first, second }
    }));
    groups
}

/// The functions of a set by what is known of their names.
struct Named<'p, 's, 't> {
    /// Those with symbols, in the order of addresses.
    functions: Vec<(&'p Function, &'t [Symbol<'s>])>,
    /// The names of the sections that contain the linker's stubs.
    stubs: Vec<Text<'s>>,
    /// The number of the others.
    unnamed: u64,
}

impl<'p, 's, 't> Named<'p, 's, 't> {
    fn all(places: &'p [Function], set: &Set<'s>) -> Named<'p, 's, 't>
    where
        's: 't,
    {
        let mut named = Named { functions: Vec::new(), stubs: Vec::new(), unnamed: 0 };
        for place in places {
            let names = names(set.symbols.symbols(), place.start);
            let section = || stubs(set).find(|section| section.contains(place.start.address, 1));
            match (names, section) {
                ([], section) => match section() {
                    Some(section) => named.stubs.push(section.name),
                    None => named.unnamed += 1,
                },
                (names, _) => named.functions.push((place, names)),
            }
        }
        named
    }

    /// For each function, the number of one of `others` and the name that both have. Each is the partner of one function at most;
    /// of several with the same name, the first one. Functions of different objects may share the name of a local symbol, so
    /// global ones count first.
    fn partners(&self, others: &Named<'p, 's, 't>) -> Vec<Option<(usize, Text<'s>)>> {
        let mut partners = vec![None; self.functions.len()];
        let mut is_taken = vec![false; others.functions.len()];
        let passes: [fn(&Symbol<'_>) -> bool; 2] = [|symbol| symbol.global, |_| true];
        for counts in passes {
            // The next one to be used is the last.
            let mut waiting: HashMap<Text<'s>, Vec<usize>> = HashMap::new();
            for (number, (_, names)) in others.functions.iter().enumerate().rev() {
                for symbol in names.iter().filter(|symbol| counts(symbol)) {
                    waiting.entry(symbol.name).or_default().push(number);
                }
            }
            let alone = self.functions.iter().zip(&mut partners);
            for ((_, names), partner) in alone.filter(|(_, partner)| partner.is_none()) {
                let mut names = names.iter().filter(|symbol| counts(symbol));
                *partner = names.find_map(|symbol| {
                    let candidates = waiting.get_mut(&symbol.name)?;
                    while let Some(number) = candidates.pop() {
                        if !core::mem::replace(is_taken.get_mut(number)?, true) {
                            return Some((number, symbol.name));
                        }
                    }
                    None
                });
            }
        }
        partners
    }
}

/// The symbols at a place, the best one first.
fn names<'t, 's>(symbols: &'t [Symbol<'s>], place: CodeAddress) -> &'t [Symbol<'s>] {
    let from = symbols.partition_point(|symbol| symbol.start < place);
    let here = symbols.get(from..).unwrap_or_default();
    let count = here.iter().take(MOST_NAMES);
    let count = count.take_while(|symbol| symbol.start == place && !symbol.name.is_empty()).count();
    here.get(..count).unwrap_or_default()
}

fn pair<'p, 's>(
    name: Text<'s>,
    first: Option<&'p Function>,
    second: Option<&'p Function>,
) -> Group<'p, 's> {
    let start = |place: Option<&Function>| place.map_or(0, |place| place.start.address);
    let slice = |place: Option<&'p Function>| place.map_or(&[][..], std::slice::from_ref);
    Group {
        name,
        bases: Bases { first: start(first), second: start(second) },
        first: slice(first),
        second: slice(second),
    }
}

/// The functions in the section of stubs with this name, and its address.
fn of_stubs<'p>(places: &'p [Function], set: &Set<'_>, name: Text<'_>) -> (&'p [Function], u64) {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn place(index: u32, address: u64, size: u64) -> Function {
        Function { start: CodeAddress { section: 0, address }, size, section: 0, index }
    }

    /// The groups, as the functions' numbers.
    fn groups(first: &[Function], second: &[Function]) -> Vec<(Vec<u32>, Vec<u32>)> {
        let numbers = |places: &[Function]| places.iter().map(|place| place.index).collect();
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
