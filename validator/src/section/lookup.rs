//! Finds the function and row of a PC (V3 2.3.1, 2.3.3; format sheet 1.11).

use super::Section;
use super::error::Error;
use super::function::{Function, FunctionEntry};
use super::interpret::RowLayout;
use super::placement::Starts;
use super::row::FrameRowEntry;
use crate::unwind::CodeAddress;
use crate::unwind::{Frame, Row};

impl<'a> Section<'a> {
    /// The function and the row at an absolute address. The search is binary if the section says that its table is
    /// sorted, otherwise linear.
    ///
    /// # Errors
    /// An error in the function that covers `pc`; see [`Section::find_function`] and [`Function::find_row`].
    pub fn find(&'a self, pc: u64) -> Result<Option<(Function<'a>, Row)>, Error> {
        let Some(function) = self.find_function(CodeAddress::absolute(pc))? else {
            return Ok(None);
        };
        Ok(function.find_row(pc)?.map(|row| (function, row)))
    }

    /// The function that covers a place.
    ///
    /// # Errors
    /// [`ErrorKind::Truncated`](super::ErrorKind::Truncated) if its attributes cannot be read.
    pub fn find_function(&'a self, pc: CodeAddress) -> Result<Option<Function<'a>>, Error> {
        let sorted = self.header().flags.sorted();
        let entry = match self.placement().starts {
            Starts::Linked if sorted => self.search(pc),
            Starts::Linked | Starts::Relocated(_) => self.scan(pc),
        };
        entry.map(FunctionEntry::function).transpose()
    }

    /// The entries that readers of a linked section do not find, each with the one that they find instead, from the end of the
    /// table: another entry follows that has the same start and no bytes. They search a sorted table for the last entry that
    /// is not after a PC; [`Section::find_function`] is more tolerant. None in a relocatable object, or if the table is not
    /// sorted. Observed: libsframe, the GNU C library, the Linux kernel.
    pub fn hidden_functions(
        &'a self,
    ) -> impl Iterator<Item = (FunctionEntry<'a>, FunctionEntry<'a>)> {
        let is_linked = matches!(self.placement().starts, Starts::Linked);
        let is_searched = is_linked && self.header().flags.sorted();
        // Few sections have such entries, and their sizes are read faster than their starts.
        let may_hide = is_searched && self.entries().any(|entry| entry.size() == 0);
        let count = if may_hide { self.entry_count() } else { 0 };
        let entries = (0..count).rev().filter_map(|index| self.entry(index));
        let mut last: Option<(CodeAddress, FunctionEntry<'a>)> = None;
        entries.filter_map(move |entry| {
            let start = entry.start().ok()?;
            match last {
                Some((of, found)) if of == start => {
                    (found.size() == 0 && entry.size() > 0).then_some((entry, found))
                }
                _ => {
                    last = Some((start, entry));
                    None
                }
            }
        })
    }

    fn scan(&'a self, pc: CodeAddress) -> Option<FunctionEntry<'a>> {
        self.entries().find(|entry| covers(entry, pc))
    }

    /// The last non-empty entry that starts at or before `pc`. Entries of size 0 may follow the one that covers it, and
    /// are skipped one by one.
    fn search(&'a self, pc: CodeAddress) -> Option<FunctionEntry<'a>> {
        let (mut low, mut high) = (0, self.entry_count());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.entry(middle)?.start() {
                Ok(start) if start <= pc => low = middle + 1,
                _ => high = middle,
            }
        }
        let candidates = (0..low).rev().filter_map(|index| self.entry(index));
        candidates.skip_while(|entry| entry.size() == 0).take(1).find(|entry| covers(entry, pc))
    }
}

impl Function<'_> {
    /// The row at an absolute address inside the function, with its range. In a repeated block, this is the range in
    /// the block that contains `pc`. If several rows start at or before `pc`, the last one is returned; if none does,
    /// `None`. A function that [is outermost](Function::is_outermost) has the outermost frame everywhere (V3 1.2); for
    /// other functions without rows, `None` is returned.
    ///
    /// # Errors
    /// Those of [`Function::rows`]; [`ErrorKind::UnknownRepeatSize`](super::ErrorKind) for a repeated block of unknown
    /// size.
    pub fn find_row(&self, pc: u64) -> Result<Option<Row>, Error> {
        let layout = RowLayout::of(self)?;
        let start = self.start()?.address;
        let in_function = pc.wrapping_sub(start);
        if in_function >= u64::from(self.size()) {
            return Ok(None);
        }
        if self.is_outermost() {
            let end = start.saturating_add(u64::from(self.size()));
            return Ok(Some(Row { start, end, frame: Frame::OUTERMOST }));
        }
        let (in_block, length) = match self.repeat_size()? {
            Some(block) => (in_function % u64::from(block), u64::from(block)),
            None => (in_function, u64::from(self.size())),
        };
        let block = in_function - in_block;
        let mut found: Option<FrameRowEntry<'_>> = None;
        let mut end = length;
        for entry in self.frame_row_entries()? {
            let entry = entry?;
            if u64::from(entry.start) > in_block {
                end = end.min(u64::from(entry.start));
                break;
            }
            found = Some(entry);
        }
        let Some(entry) = found else { return Ok(None) };
        let end = (block + end).min(u64::from(self.size()));
        Ok(Some(Row {
            start: start.saturating_add(block + u64::from(entry.start)),
            end: start.saturating_add(end),
            frame: layout.interpret(&entry)?,
        }))
    }
}

fn covers(entry: &FunctionEntry<'_>, pc: CodeAddress) -> bool {
    entry.start().is_ok_and(|start| {
        start.section == pc.section
            && pc.address.wrapping_sub(start.address) < u64::from(entry.size())
    })
}
