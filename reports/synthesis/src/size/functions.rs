//! The functions of an existing section without what they can do without.

use sframe_validator::Section;
use sframe_validator::section::{self, Error, FreType, RowBudget};
use sframe_validator::unwind::Row;

use super::{Savings, Visit, Waste};
use crate::encode::Form;
use crate::measure::{flexible_words, measure, plain_words};
use crate::model::{Function, merge};
use crate::synthesis::SynthesisError;

/// Reads functions, and counts what they save.
pub(super) struct Functions<'f> {
    pub(super) form: &'f Form,
    pub(super) savings: &'f mut Savings,
}

/// The rows of a function that are needed, and the bytes of the others.
#[derive(Default)]
struct Needed {
    rows: Vec<Row>,
    /// The bytes of data words of each row.
    words: Vec<u64>,
    redundant: u64,
    redundant_bytes: u64,
    /// The bytes of all rows.
    bytes: u64,
}

impl Functions<'_> {
    /// Passes the functions that say something to `visit`, with the rows that are needed.
    pub(super) fn each(
        mut self,
        section: &Section<'_>,
        visit: Visit<'_>,
    ) -> Result<(), SynthesisError> {
        let mut budget = section.row_budget();
        for stored in section.functions() {
            let function = stored.and_then(|stored| self.needed(&stored, &mut budget));
            if let Some(function) = function.map_err(SynthesisError::Section)? {
                visit(function)?;
            }
        }
        Ok(())
    }

    /// A function without what it does not need; `None` if it says nothing.
    fn needed(
        &mut self,
        stored: &section::Function<'_>,
        budget: &mut RowBudget,
    ) -> Result<Option<Function>, Error> {
        let needed = Needed::read(stored, budget)?;
        let is_described = stored.is_outermost() || !needed.rows.is_empty();
        if stored.size() == 0 || !is_described {
            let version = self.form.version;
            let bytes = version.entry_size() + version.attribute_size() + needed.bytes;
            self.savings.add(Waste::EmptyFunctions, bytes, 1);
            return Ok(None);
        }
        self.shrink(stored, needed).map(Some)
    }

    fn shrink(
        &mut self,
        stored: &section::Function<'_>,
        needed: Needed,
    ) -> Result<Function, Error> {
        self.savings.add(Waste::RedundantRows, needed.redundant_bytes, needed.redundant);
        let info = stored.attributes().info;
        // Version 1 does not record the size of the block.
        let block = info.is_pc_mask().then_some(stored.attributes().rep_size);
        let function = Function {
            start: stored.start()?,
            size: stored.size(),
            signal: stored.is_signal_frame(),
            pauth_key_b: info.pauth_key_b(),
            block,
            start_width: None,
            flexible: false,
            rows: needed.rows,
        };
        let last = function.rows.last().map_or(0, |row| row.start - function.start.address);
        let narrow = FreType::for_start(u32::try_from(last).unwrap_or(u32::MAX)).width();
        let surplus = stored.fre_type()?.width().saturating_sub(narrow);
        let rows = function.rows.len() as u64;
        self.savings.add(Waste::WideStarts, surplus as u64 * rows, 1);
        self.compare_words(stored, &needed.words, &function);
        Ok(function)
    }

    /// Compares the bytes of the stored words of each row with those that the function needs.
    fn compare_words(
        &mut self,
        stored: &section::Function<'_>,
        stored_words: &[u64],
        function: &Function,
    ) {
        let Some(measured) = measure(self.form, function) else { return };
        if stored.is_flexible() && !measured.flexible {
            let bytes = stored_words.iter().sum::<u64>().saturating_sub(measured.words);
            self.savings.add(Waste::FlexibleRows, bytes, 1);
            return;
        }
        let words = if measured.flexible { flexible_words } else { plain_words };
        for (row, stored) in function.rows.iter().zip(stored_words) {
            let bytes = words(self.form, &row.frame).unwrap_or(*stored);
            self.savings.add(Waste::WideWords, stored.saturating_sub(bytes), 1);
        }
    }
}

impl Needed {
    fn read(function: &section::Function<'_>, budget: &mut RowBudget) -> Result<Needed, Error> {
        let mut needed = Needed::default();
        let rows = function.rows_within(budget)?;
        for (entry, row) in function.frame_row_entries()?.zip(rows) {
            let (entry, row) = (entry?, row?);
            needed.bytes += entry.size();
            let is_valid = row.start < row.end;
            if !is_valid || needed.rows.last_mut().is_some_and(|last| merge(last, &row)) {
                needed.redundant += 1;
                needed.redundant_bytes += entry.size();
            } else {
                needed.rows.push(row);
                needed.words.push(entry.words.bytes().len() as u64);
            }
        }
        Ok(needed)
    }
}
