//! Consumers that find a function in the table, and then a row of it.

use crate::answer::{Answer, Found, Stop};
pub(crate) use crate::consumer::NO_FUNCTION;
use crate::consumer::Reader;
use crate::rows::{Rows, Work};
use sframe_validator::unwind::Frame;

/// A function as the consumer understands it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Extent {
    /// The address of its first byte.
    pub(crate) start: u64,
    /// The size in bytes.
    pub(crate) size: u32,
    /// The size of the block that repeats; 0 if none does.
    pub(crate) block: u8,
}

/// A function table that a consumer has accepted.
pub(crate) trait Table {
    /// The length of the section in bytes.
    fn length(&self) -> usize;

    /// The number of entries that the section contains.
    fn count(&self) -> u32;

    /// An entry; `None` if it cannot be read.
    fn extent(&self, index: u32) -> Option<Extent>;

    /// The entry that the consumer selects for a PC.
    fn find(&self, pc: u64) -> Result<u32, Stop>;

    /// The rows of a function.
    fn rows(&self, index: u32, work: &Work) -> Rows;

    /// The row of a function that the consumer selects for a PC.
    fn select(&self, index: u32, rows: &Rows, pc: u64, work: &Work) -> Result<Frame, Stop>;
}

/// The addresses at which functions and their rows begin and end. The number of repeated blocks is limited by the section's
/// length.
pub(crate) fn boundaries(
    length: usize,
    functions: impl Iterator<Item = (Extent, impl std::borrow::Borrow<Rows>)>,
) -> Vec<u64> {
    let (blocks, mut found) = (Work::of(length), Vec::new());
    for (extent, rows) in functions {
        let end = u64::from(extent.size);
        found.extend([extent.start, extent.start.wrapping_add(end)]);
        let starts = rows.borrow().steps().iter().map(|step| u64::from(step.start));
        if extent.block == 0 {
            let inside = starts.filter(|start| *start < end);
            found.extend(inside.map(|start| extent.start.wrapping_add(start)));
            continue;
        }
        let block = u64::from(extent.block);
        let mut starts: Vec<u64> = starts.filter(|start| *start < block).collect();
        starts.push(0);
        starts.sort_unstable();
        starts.dedup();
        let places = (0..end).step_by(usize::from(extent.block));
        let all = places.flat_map(|place| starts.iter().map(move |start| place + start));
        let inside = all.take_while(|_| blocks.take()).filter(|place| *place < end);
        found.extend(inside.map(|place| extent.start.wrapping_add(place)));
    }
    found
}

/// The reader of a table.
pub(crate) struct TableReader<T>(pub(crate) T);

impl<T: Table> Reader for TableReader<T> {
    fn boundaries(&self) -> Vec<u64> {
        let (table, work) = (&self.0, Work::of(self.0.length()));
        let functions = (0..table.count()).filter_map(|index| {
            let extent = table.extent(index)?;
            Some((extent, table.rows(index, &work)))
        });
        boundaries(table.length(), functions)
    }

    fn answers(&self, addresses: &[u64], give: &mut dyn FnMut(Answer)) {
        let work = Work::of(self.0.length());
        let mut last: Option<(u32, Rows)> = None;
        let mut answer = |pc: &u64| {
            let index = self.0.find(*pc)?;
            if last.as_ref().is_none_or(|(at, _)| *at != index) {
                last = Some((index, self.0.rows(index, &work)));
            }
            let Some((_, rows)) = &last else { return Err(NO_FUNCTION) };
            let frame = self.0.select(index, rows, *pc, &work)?;
            let start = self.0.extent(index).map_or(0, |extent| extent.start);
            Ok(Found { function: index, start, frame })
        };
        addresses.iter().for_each(|pc| give(answer(pc)));
    }
}
