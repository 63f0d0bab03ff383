//! Where in a section the row stands that holds at a PC.

use core::ops::Range;

use sframe_validator::Section;
use sframe_validator::finding::FunctionId;
use sframe_validator::section::{FrameRowEntry, Function, RowBudget};

/// A row that is looked for, and what is found.
#[derive(Clone, Debug)]
pub(super) struct Wanted {
    /// Which of those that asked.
    pub(super) asked_by: usize,
    /// The section's number among those compared, and the function's in it.
    pub(super) section: u32,
    pub(super) function: u32,
    /// The PC.
    pub(super) address: u64,
    /// The row's number and section offsets.
    pub(super) row: Option<(u32, Range<u64>)>,
}

/// Finds all rows that are wanted: each function's rows are read once, so that many questions
/// about one function cost no more than one.
pub(super) fn find_rows(sections: &[Section<'_>], wanted: &mut [Wanted]) {
    wanted.sort_by_key(|wanted| (wanted.section, wanted.function, wanted.address));
    let mut budgets: Vec<_> = sections.iter().map(Section::row_budget).collect();
    for group in wanted.chunk_by_mut(|a, b| (a.section, a.function) == (b.section, b.function)) {
        let Some(Wanted { section, function, .. }) = group.first() else { continue };
        let Ok(number) = usize::try_from(*section) else { continue };
        let (Some(section), Some(budget)) = (sections.get(number), budgets.get_mut(number)) else {
            continue;
        };
        let function = section.entry(*function).and_then(|entry| entry.function().ok());
        if let Some(function) = function {
            find_in(&function, budget, group);
        }
    }
}

/// A reader stops at the first row that starts behind the PC, and takes the one before.
fn find_in(function: &Function<'_>, budget: &mut RowBudget, wanted: &mut [Wanted]) {
    let (Ok(start), Ok(repeat), Ok(entries)) =
        (function.start(), function.repeat_size(), function.frame_row_entries())
    else {
        return;
    };
    let place = |wanted: &Wanted| {
        let distance = wanted.address.wrapping_sub(start.address);
        repeat.map_or(distance, |block| distance % u64::from(block.max(1)))
    };
    wanted.sort_by_key(place);
    let mut left = wanted.iter_mut().peekable();
    let mut last: Option<(u32, FrameRowEntry<'_>)> = None;
    let found = |last: &Option<(u32, FrameRowEntry<'_>)>| {
        last.as_ref().map(|(number, row)| (*number, row.offset..row.offset + row.size()))
    };
    for (number, row) in (0..).zip(entries) {
        let Ok(row) = row else { break };
        while let Some(wanted) = left.next_if(|wanted| place(wanted) < u64::from(row.start)) {
            wanted.row = found(&last);
        }
        if left.peek().is_none() || budget.charge(&row).is_err() {
            return;
        }
        last = Some((number, row));
    }
    for wanted in left {
        wanted.row = found(&last);
    }
}

/// A function as findings name it, and its entry's section offsets.
pub(super) fn function_of(section: &Section<'_>, index: u32) -> Option<(FunctionId, Range<u64>)> {
    let entry = section.entry(index)?;
    let id = FunctionId { index, start: entry.start().ok(), size: entry.size() };
    let offset = entry.offset();
    Some((id, offset..offset + section.header().version.entry_size()))
}
