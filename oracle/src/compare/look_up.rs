//! Compares SFrame with CFI at single PCs.

use sframe_validator::Section;
use sframe_validator::elf::Elf;
use sframe_validator::unwind::CodeAddress;

use super::event::{Event, Wanted};
use super::file::compare_code;
use super::range::Range;
use super::tables::Tables;
use crate::cfi::Cfi;
use crate::witness::CodeRange;

/// The statements of SFrame and CFI about each of `places`, in their order, with the verdict that [`compare`] has about
/// them. Places outside of the file's code are looked up as well. `None` for the address 2^64 - 1, which no range can
/// contain.
///
/// The result's `start` and `end` are not those of the rows: only the place itself is certain to be between them.
///
/// [`compare`]: super::compare
#[must_use]
pub fn look_up<'c>(
    elf: &Elf<'_>,
    sections: &[Section<'_>],
    cfi: &'c [Cfi<'c>],
    places: &[CodeAddress],
) -> Vec<Option<Range<'c>>> {
    let mut wanted = places.to_vec();
    wanted.sort_unstable();
    wanted.dedup();
    let single = |start: CodeAddress| CodeRange { start, end: start.address.saturating_add(1) };
    let code: Vec<CodeRange> = wanted.into_iter().map(single).collect();
    let mut ranges = Vec::new();
    let all = Wanted { neither: true, equal: true, sizes_without_sframe: false };
    compare_code(&code, Tables { elf, sections, cfi }, all, &mut |event| {
        if let Event::Range(range) = event {
            ranges.push(range);
        }
    });
    let start = |range: &Range<'_>| CodeAddress { section: range.section, address: range.start };
    let of = |place: &CodeAddress| {
        let next = ranges.partition_point(|range| start(range) <= *place);
        let range = ranges.get(next.checked_sub(1)?)?;
        (range.section == place.section && place.address < range.end).then_some(*range)
    };
    places.iter().map(of).collect()
}
