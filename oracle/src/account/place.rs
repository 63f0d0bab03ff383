//! Finds the row that is valid at a PC, and its place in the section.

use core::ops::Range;

use sframe_validator::Section;
use sframe_validator::finding::FunctionId;
use sframe_validator::section::{Error, FrameRowEntry, Function, RowLayout};
use sframe_validator::unwind::Frame;

/// A row to be found.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    /// The number of the request.
    pub(super) asked_by: usize,
    /// The number of the section among those compared; the function's index in it follows.
    pub(super) section: u32,
    pub(super) function: u32,
    /// The PC.
    pub(super) address: u64,
    /// The frame according to CFI, if the row is compared with it.
    pub(super) cfi: Option<Frame>,
    /// The row that is valid at the PC, or the one that should be.
    pub(super) row: Option<Place>,
}

/// A row's place in its section.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The row's number in its function.
    pub(super) number: u32,
    /// Its section offsets.
    pub(super) bytes: Range<u64>,
    /// If the row has CFI's values at the PC but starts after it: the row's offset in bytes from the start of the
    /// function.
    pub(super) late: Option<u32>,
}

/// Finds all requested rows. Each function's rows are read only once, however many requests there are. The sweep has read
/// them within its budget, up to the row after the last request.
pub(super) fn find_rows(sections: &[Section<'_>], wanted: &mut [Wanted]) {
    wanted.sort_by_key(|wanted| (wanted.section, wanted.function, wanted.address));
    for group in wanted.chunk_by_mut(|a, b| (a.section, a.function) == (b.section, b.function)) {
        let Some(Wanted { section, function, .. }) = group.first() else { continue };
        let Ok(number) = usize::try_from(*section) else { continue };
        let Some(section) = sections.get(number) else { continue };
        let function = section.entry(*function).and_then(|entry| entry.function().ok());
        if let Some(function) = function {
            find_in(&function, group);
        }
    }
}

/// A reader stops at the first row that starts after the PC, and uses the one before. If that first row has CFI's
/// values at the PC, its start is what is wrong.
fn find_in(function: &Function<'_>, wanted: &mut [Wanted]) {
    let (Ok(start), Ok(repeat), Ok(entries)) =
        (function.start(), repeat_of(function), function.frame_row_entries())
    else {
        return;
    };
    let place = |wanted: &Wanted| {
        let distance = wanted.address.wrapping_sub(start.address);
        repeat.map_or(distance, |block| distance % u64::from(block.max(1)))
    };
    wanted.sort_by_key(place);
    let layout = RowLayout::of(function).ok();
    let mut left = wanted.iter_mut().peekable();
    let mut last: Option<(u32, FrameRowEntry<'_>)> = None;
    let at = |number: u32, row: &FrameRowEntry<'_>| Place {
        number,
        bytes: row.offset..row.offset.saturating_add(row.size()),
        late: None,
    };
    let found = |last: &Option<(u32, FrameRowEntry<'_>)>| {
        last.as_ref().map(|(number, row)| at(*number, row))
    };
    for (number, row) in (0..).zip(entries) {
        let Ok(row) = row else { break };
        let says = layout.and_then(|layout| layout.interpret(&row).ok());
        while let Some(wanted) = left.next_if(|wanted| place(wanted) < u64::from(row.start)) {
            wanted.row = match says {
                Some(says) if repeat.is_none() && Some(says) == wanted.cfi => {
                    Some(Place { late: Some(row.start), ..at(number, &row) })
                }
                _ => found(&last),
            };
        }
        if left.peek().is_none() {
            return;
        }
        last = Some((number, row));
    }
    for wanted in left {
        wanted.row = found(&last);
    }
}

/// The size in bytes of a repeated block. If there is only one row, the size does not matter, even if version 1 does
/// not record it.
fn repeat_of(function: &Function<'_>) -> Result<Option<u8>, Error> {
    function.repeat_size().or_else(|error| match function.num_rows() {
        1 => Ok(None),
        _ => Err(error),
    })
}

/// The function as findings identify it, and the section offsets of its entry.
pub(super) fn function_of(section: &Section<'_>, index: u32) -> Option<(FunctionId, Range<u64>)> {
    let entry = section.entry(index)?;
    let id = FunctionId { index, start: entry.start().ok(), size: entry.size() };
    let offset = entry.offset();
    Some((id, offset..offset + section.header().version.entry_size()))
}
