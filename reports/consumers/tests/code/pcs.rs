//! Every PC of a section, and what the specification says there, by the validator's own lookup.

use sframe_consumers::Reader;
use sframe_validator::unwind::Frame;
use sframe_validator::{Placement, Section};

use crate::inputs::Sample;

/// What the specification says at a PC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Truth {
    Row(Frame),
    Nothing,
    /// The function that covers the PC, or its row, has no meaning.
    Unreadable,
}

/// The PCs that an assessment counts.
pub(crate) struct Pcs<'a> {
    section: Section<'a>,
    first: u64,
    end: u64,
}

impl<'a> Pcs<'a> {
    /// From the first function of either side to the specification's last one. None if there are more than `most` of them, or
    /// if it is not certain what the specification says: the table does not fit, or it is not in order, or functions overlap.
    pub(crate) fn of(sample: &'a Sample, reader: &dyn Reader, most: u64) -> Option<Pcs<'a>> {
        let placement = Placement::at(sample.address).with_abi(Some(sample.machine));
        let section = Section::parse(&sample.bytes, placement).ok()?;
        if section.entry_count() < section.header().num_fdes {
            return None;
        }
        let mut functions: Vec<(u64, u64)> = section
            .entries()
            .filter(|entry| entry.size() > 0)
            .map(|entry| (entry.start().expect("linked").address, u64::from(entry.size())))
            .collect();
        if section.header().flags.sorted() && !functions.is_sorted() {
            return None;
        }
        functions.sort_unstable();
        let ends = functions.iter().map(|(start, size)| start.checked_add(*size));
        if !ends.zip(functions.iter().skip(1)).all(|(end, next)| end <= Some(next.0)) {
            return None;
        }
        let (last, size) = functions.last()?;
        let end = last.checked_add(*size)?;
        let places = reader.places().list;
        let first = functions.first().map(|(start, _)| *start)?;
        // Farther away are places that are not those of functions.
        let near = first.saturating_sub(most)..=end;
        let first = places.into_iter().filter(|place| near.contains(place)).min()?.min(first);
        (end - first <= most).then_some(Pcs { section, first, end })
    }

    pub(crate) fn truths(&self) -> impl Iterator<Item = (u64, Truth)> + '_ {
        (self.first..self.end).map(|pc| {
            let truth = match self.section.find(pc) {
                Ok(Some((_, row))) => Truth::Row(row.frame),
                Ok(None) => Truth::Nothing,
                Err(_) => Truth::Unreadable,
            };
            (pc, truth)
        })
    }
}
