//! Consumers that find a function in the table, and then a row of it.

use crate::answer::{Answer, Found, Stop};
pub(crate) use crate::consumer::NO_FUNCTION;
use crate::consumer::{Lookups, Places, Reader};
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

    /// The number of PCs after which the rows of a function repeat; 1 if they do not.
    fn period(&self, index: u32) -> u64 {
        self.extent(index).map_or(1, |extent| extent.period())
    }

    /// Addresses other than those of functions and rows at which the answer may change.
    fn other_places(&self) -> Vec<u64> {
        Vec::new()
    }

    /// Whether 32 bits of an address are kept.
    fn wraps(&self) -> bool {
        false
    }
}

impl Extent {
    /// The number of PCs after which the rows repeat; 1 if they do not.
    pub(crate) fn period(&self) -> u64 {
        u64::from(self.block.max(1))
    }
}

/// The addresses at which functions and their rows begin and end.
pub(crate) fn places(
    functions: impl Iterator<Item = (Extent, impl std::borrow::Borrow<Rows>)>,
) -> Vec<u64> {
    let mut found = Vec::new();
    for (extent, rows) in functions {
        let at = |offset: u64| extent.start.wrapping_add(offset);
        let mut add = |place: u64| {
            // Nearly every row begins where the one before it ends.
            if found.last() != Some(&place) {
                found.push(place);
            }
        };
        // Some searches take another way at the start itself.
        [extent.start, at(1)].into_iter().for_each(&mut add);
        for step in rows.borrow().steps() {
            add(at(step.start.into()));
            add(at(u64::from(step.end) + 1));
        }
        add(at(extent.size.into()));
    }
    found
}

/// The reader of a table.
pub(crate) struct TableReader<T>(pub(crate) T);

impl<T: Table> Reader for TableReader<T> {
    fn places(&self) -> Places {
        let (table, work) = (&self.0, Work::of_kept(self.0.length()));
        let functions = (0..table.count()).filter_map(|index| {
            let extent = table.extent(index)?;
            Some((extent, table.rows(index, &work)))
        });
        let (list, others) = (places(functions), table.other_places());
        Places { list, others, wraps: table.wraps(), is_complete: !work.is_spent() }
    }

    fn lookups(&self) -> Box<dyn Lookups + '_> {
        let (table, work) = (&self.0, Work::of(self.0.length()));
        Box::new(TableLookups { table, work, found: None, last: None, period: None })
    }
}

/// Lookups in a table.
struct TableLookups<'t, T> {
    table: &'t T,
    work: Work,
    /// The PC that was looked up last, and the function that was found.
    found: Option<(u64, Result<u32, Stop>)>,
    /// The function that was found last.
    last: Option<Last>,
    /// The period of a function that was asked for last.
    period: Option<(u32, u64)>,
}

/// A function that was found.
struct Last {
    index: u32,
    start: u64,
    rows: Rows,
}

impl<T: Table> TableLookups<'_, T> {
    fn find(&mut self, pc: u64) -> Result<u32, Stop> {
        match self.found {
            Some((known, found)) if known == pc => found,
            _ => self.found.insert((pc, self.table.find(pc))).1,
        }
    }
}

impl<T: Table> Lookups for TableLookups<'_, T> {
    fn answer(&mut self, pc: u64) -> Answer {
        let index = self.find(pc)?;
        let last = match self.last.take().filter(|last| last.index == index) {
            Some(last) => last,
            None => {
                let start = self.table.extent(index).map_or(0, |extent| extent.start);
                Last { index, start, rows: self.table.rows(index, &self.work) }
            }
        };
        let last = self.last.insert(last);
        let frame = self.table.select(index, &last.rows, pc, &self.work)?;
        Ok(Found { function: index, start: last.start, frame })
    }

    fn period(&mut self, pc: u64) -> u64 {
        let Ok(index) = self.find(pc) else { return 1 };
        match self.period {
            Some((known, period)) if known == index => period,
            _ => self.period.insert((index, self.table.period(index))).1,
        }
    }
}
