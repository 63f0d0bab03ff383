//! Divides the code of a file into parts that can be compared one by one.

use core::iter::Peekable;

use sframe_validator::elf::Elf;
use sframe_validator::unwind::CodeAddress;

use super::code::code_of;
use crate::cfi::Cfi;
use crate::witness::{CodeRange, Places, SframeFunction};

/// The number of functions that are tried as the start of a part, where others overlap with them.
const TRIES: usize = 64;
/// The number of functions without bytes that are passed over to find the one before a place.
const EMPTY: usize = 64;

/// A part of a file's code.
#[derive(Debug)]
pub(super) struct Part {
    /// The code, ordered and without overlaps.
    pub(super) code: Vec<CodeRange>,
    /// The number of SFrame functions before it, none of which describes any of it.
    pub(super) sframe: usize,
    /// The number of functions of each CFI section before it, none of which describes any of it.
    pub(super) cfi: Vec<usize>,
}

impl Part {
    /// Code before which no function is passed over.
    pub(super) const fn of(code: Vec<CodeRange>) -> Part {
        Part { code, sframe: 0, cfi: Vec::new() }
    }
}

/// Divides the code of a file into parts with about `size` functions. No function describes code of two parts.
pub(super) fn divide(elf: &Elf<'_>, places: &Places, cfi: &[Cfi<'_>], size: usize) -> Vec<Part> {
    let sframe = Functions::Sframe(&places.functions);
    let all: Vec<_> = [sframe].into_iter().chain(cfi.iter().map(Functions::Cfi)).collect();
    let mut code = code_of(elf).into_iter().peekable();
    let (mut parts, mut part) = (Vec::new(), Part::of(Vec::new()));
    for (start, passed) in starts(&all, size) {
        take_before(&mut code, start, &mut part.code);
        let mut passed = passed.into_iter();
        let sframe = passed.next().unwrap_or(0);
        let next = Part { code: Vec::new(), sframe, cfi: passed.collect() };
        if !part.code.is_empty() {
            parts.push(part);
        }
        part = next;
    }
    part.code.extend(code);
    parts.push(part);
    parts
}

/// Places at which parts can start, about `size` functions after each other, with the number of functions before them in
/// each table.
fn starts(all: &[Functions<'_>], size: usize) -> Vec<(CodeAddress, Vec<usize>)> {
    let Some(largest) = all.iter().max_by_key(|functions| functions.count()) else {
        return Vec::new();
    };
    let candidates = (size..largest.count()).step_by(size.max(1));
    let start = |first: usize| {
        (first..first.saturating_add(size.min(TRIES))).find_map(|number| {
            let (place, _) = largest.nth(number)?;
            let passed = all.iter().map(|functions| functions.passed_at(place));
            Some((place, passed.collect::<Option<Vec<_>>>()?))
        })
    };
    let mut starts: Vec<_> = candidates.filter_map(start).collect();
    starts.dedup_by_key(|(place, _)| *place);
    starts
}

/// Moves the code before a place from `code` to `part`.
fn take_before(
    code: &mut Peekable<impl Iterator<Item = CodeRange>>,
    place: CodeAddress,
    part: &mut Vec<CodeRange>,
) {
    while let Some(range) = code.peek_mut().filter(|range| range.start < place) {
        if range.start.section == place.section && place.address < range.end {
            part.push(CodeRange { end: place.address, ..*range });
            range.start = place;
            return;
        }
        part.extend(code.next());
    }
}

/// The functions of a table, in the order of addresses.
enum Functions<'t> {
    Sframe(&'t [SframeFunction]),
    Cfi(&'t Cfi<'t>),
}

impl Functions<'_> {
    fn count(&self) -> usize {
        match self {
            Functions::Sframe(functions) => functions.len(),
            Functions::Cfi(cfi) => cfi.count(),
        }
    }

    /// The start and the size of a function.
    fn nth(&self, number: usize) -> Option<(CodeAddress, u64)> {
        match self {
            Functions::Sframe(functions) => {
                functions.get(number).map(|function| (function.start, function.size.into()))
            }
            Functions::Cfi(cfi) => cfi.nth_range(number),
        }
    }

    /// The number of functions that start before a place, if none of them describes code from there on.
    fn passed_at(&self, place: CodeAddress) -> Option<usize> {
        let (mut low, mut high) = (0, self.count());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.nth(middle).is_some_and(|(start, _)| start < place) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        // If functions overlap, the one that starts last is found, so that no other reaches past its end.
        let mut before = (0..low).rev().take(EMPTY).filter_map(|number| self.nth(number));
        let last = before.find(|(_, size)| *size > 0);
        let is_over = match last {
            Some((start, size)) => {
                start.section != place.section
                    || start.address.saturating_add(size) <= place.address
            }
            None => low < EMPTY,
        };
        is_over.then_some(low)
    }
}
