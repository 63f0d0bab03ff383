//! Which functions of the two sides belong together.

use std::collections::HashMap;

use sframe_validator::elf::SymbolTable;
use sframe_validator::section::CodeAddress;

use super::Totals;
use crate::compare::sframe::Place;

/// Functions that belong together: of each side a run of its places.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group<'p, 's> {
    /// The symbol they were paired by.
    pub(super) name: &'s [u8],
    pub(super) first: &'p [Place],
    pub(super) second: &'p [Place],
}

/// Functions whose code overlaps, directly or by way of others.
pub(super) fn by_address<'p, 's>(first: &'p [Place], second: &'p [Place]) -> Vec<Group<'p, 's>> {
    let mut groups = Vec::with_capacity(first.len().max(second.len()));
    let (mut a, mut b) = (first, second);
    loop {
        let next = [a.first(), b.first()].into_iter().flatten().min_by_key(|place| place.start);
        let Some(next) = next else { return groups };
        let mut end = behind(next);
        let inside = |place: &Place, end: CodeAddress| {
            // At the last address of all even the first one has its end where it starts.
            place.start == next.start || place.start.section == end.section && place.start < end
        };
        let (mut ours, mut theirs) = (0, 0);
        loop {
            let reaching = match (a.get(ours), b.get(theirs)) {
                (Some(place), _) if inside(place, end) => {
                    ours += 1;
                    place
                }
                (_, Some(place)) if inside(place, end) => {
                    theirs += 1;
                    place
                }
                _ => break,
            };
            end = end.max(behind(reaching));
        }
        let (first, rest) = a.split_at(ours);
        a = rest;
        let (second, rest) = b.split_at(theirs);
        b = rest;
        groups.push(Group { name: b"", first, second });
    }
}

/// The first place behind the function.
fn behind(place: &Place) -> CodeAddress {
    let address = place.start.address.saturating_add(place.size.into());
    CodeAddress { section: place.start.section, address }
}

/// Functions with the same symbol at their start.
pub(super) fn by_symbol<'p, 's>(
    first: &'p [Place],
    second: &'p [Place],
    first_symbols: &SymbolTable<'s>,
    second_symbols: &SymbolTable<'s>,
    totals: &mut Totals,
) -> Vec<Group<'p, 's>> {
    // Of each name the functions of the second side, the one to be taken next at the end.
    let mut waiting: HashMap<&'s [u8], Vec<&'p Place>> = HashMap::new();
    for place in second.iter().rev() {
        match name(second_symbols, place) {
            Some(name) => waiting.entry(name).or_default().push(place),
            None => totals.unnamed_second += 1,
        }
    }
    let mut groups = Vec::with_capacity(first.len());
    for place in first {
        let Some(name) = name(first_symbols, place) else {
            totals.unnamed_first += 1;
            continue;
        };
        let partner = waiting.get_mut(name).and_then(Vec::pop);
        let second = partner.map_or(&[][..], std::slice::from_ref);
        groups.push(Group { name, first: std::slice::from_ref(place), second });
    }
    let mut left: Vec<(&[u8], &Place)> = waiting
        .into_iter()
        .flat_map(|(name, places)| places.into_iter().map(move |place| (name, place)))
        .collect();
    left.sort_by_key(|(_, place)| (place.start, place.index));
    groups.extend(left.into_iter().map(|(name, place)| Group {
        name,
        first: &[],
        second: std::slice::from_ref(place),
    }));
    groups
}

/// The symbol at a function's start.
fn name<'s>(symbols: &SymbolTable<'s>, place: &Place) -> Option<&'s [u8]> {
    let symbol = symbols.find(place.start)?;
    (symbol.start == place.start && !symbol.name.is_empty()).then_some(symbol.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(index: u32, address: u64, size: u32) -> Place {
        Place { start: CodeAddress { section: 0, address }, size, section: 0, index }
    }

    /// The groups, by the functions' numbers.
    fn groups(first: &[Place], second: &[Place]) -> Vec<(Vec<u32>, Vec<u32>)> {
        let numbers = |places: &[Place]| places.iter().map(|place| place.index).collect();
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
