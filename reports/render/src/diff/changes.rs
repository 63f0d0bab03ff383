//! Collects the ranges that differ by function, with the tables and code of each function.

use sframe_oracle::diff::{Change, Function, Range, Set, Source};
use sframe_validator::Abi;
use sframe_validator::finding::Keep;
use sframe_validator::unwind::{CodeAddress, Row};

use super::{FunctionChange, FunctionPlace};
use sframe_record::{Instruction, Side};
use sframe_scan::describe::RowReader;
use sframe_scan::describe::code;
use sframe_scan::describe::{Names, Tables};

/// The functions of either file that contain a range.
type Pair = (Option<Function>, Option<Function>);

/// Collects ranges, which arrive function by function.
pub(super) struct Changes<'c, 's> {
    sets: (&'c Set<'s>, &'c Set<'s>),
    names: (Names<'c, 's>, Names<'c, 's>),
    keep: Keep,
    rows: RowReader,
    functions: Vec<FunctionChange>,
    more: u64,
    /// The functions that contain the last range.
    last: Pair,
}

impl<'c, 's> Changes<'c, 's> {
    pub(super) fn new(first: &'c Set<'s>, second: &'c Set<'s>, keep: Keep) -> Changes<'c, 's> {
        Changes {
            sets: (first, second),
            names: (Names::of(Some(first.elf)), Names::of(Some(second.elf))),
            keep,
            rows: RowReader::default(),
            functions: Vec::new(),
            more: 0,
            last: (None, None),
        }
    }

    /// Adds the next range. Differences that the older version cannot express are not shown, nor is code that proves nothing.
    pub(super) fn add(&mut self, range: &Range<'s>) {
        let proves_nothing =
            range.change == Change::Undecided && matches!(self.sets.0.source, Source::Code(_));
        if matches!(range.change, Change::Limited(_)) || proves_nothing {
            return;
        }
        let [first, second] = range.functions;
        let pair = (first, second);
        let next = std::mem::replace(&mut self.last, pair) != pair;
        if next && !self.keep.has_room(self.functions.len() as u64) {
            self.more += 1;
        } else if next {
            let function = self.function(range, pair);
            self.functions.push(function);
        } else if self.more == 0
            && let Some(function) = self.functions.last_mut()
        {
            function.ranges.push(range.into());
        }
    }

    /// The functions that were kept, and the number of further functions that differ.
    pub(super) fn finish(self) -> (Vec<FunctionChange>, u64) {
        (self.functions, self.more)
    }

    fn function(&mut self, range: &Range<'s>, (first, second): Pair) -> FunctionChange {
        let (tables, code) = match (first, second) {
            (Some(first), Some(second)) => {
                let is_in_both = range.first.is_some() && range.second.is_some();
                let code = is_in_both.then(|| self.common_code(range, &first, &second)).flatten();
                (self.tables(range, &first, &second), code.unwrap_or_default())
            }
            _ => (None, Vec::new()),
        };
        let name = || {
            let first = first.and_then(|place| self.names.0.symbol(place.start));
            first.or_else(|| second.and_then(|place| self.names.1.symbol(place.start)))
        };
        FunctionChange {
            name: match range.name.bytes() {
                [] => name().map(|symbol| symbol.name).unwrap_or_default(),
                name => name.to_vec(),
            },
            first: first.map(|function| place(function, &self.names.0)),
            second: second.map(|function| place(function, &self.names.1)),
            ranges: vec![range.into()],
            tables,
            code,
        }
    }

    fn tables(&mut self, range: &Range<'s>, first: &Function, second: &Function) -> Option<Tables> {
        let bases = range.bases;
        let one = self.function_rows(self.sets.0, first, bases.first, range.start)?;
        let other = self.function_rows(self.sets.1, second, bases.second, range.start)?;
        let abi = abi(self.sets.0, first)?;
        let sides = (Side::First, Side::Second);
        Some(Tables::around(abi, (&one, &other), sides, range.start, range.end))
    }

    /// A function's rows around `pc`. Both are relative to `base`.
    fn function_rows(
        &mut self,
        set: &Set<'_>,
        place: &Function,
        base: u64,
        pc: u64,
    ) -> Option<Vec<Row>> {
        let mut rows = match set.source {
            Source::Sframe(sections) => {
                let section = sections.get(usize::try_from(place.section).ok()?)?;
                let function = section.entry(place.index)?.function().ok()?;
                self.rows.of_function(&function, base.checked_add(pc)?)?
            }
            Source::Cfi(_) => self.rows.of_cfi(&set.source.fde(place)?)?,
            Source::Code(_) => set.source.proven_rows(place)?,
        };
        for row in &mut rows {
            row.start = row.start.checked_sub(base)?;
            row.end = row.end.checked_sub(base)?;
        }
        Some(rows)
    }

    /// The instructions of the range, if they are the same in both files.
    fn common_code(
        &self,
        range: &Range<'s>,
        first: &Function,
        second: &Function,
    ) -> Option<Vec<Instruction<'static>>> {
        let bases = range.bases;
        let bytes = |set: &Set<'s>, place: &Function, base: u64| {
            let address = base.checked_add(range.start)?;
            let start = CodeAddress { section: place.start.section, address };
            set.elf.code_bytes(start, range.end - range.start)
        };
        let same =
            bytes(self.sets.0, first, bases.first)? == bytes(self.sets.1, second, bases.second)?;
        let absolute = |pc: u64| bases.first.checked_add(pc);
        let (start, end) = (absolute(range.start)?, absolute(range.end)?);
        let abi = abi(self.sets.0, first)?;
        same.then(|| code(self.sets.0.elf, abi, first.start, start, end))
    }
}

/// The machine of a function.
fn abi(set: &Set<'_>, function: &Function) -> Option<Abi> {
    match set.source {
        Source::Sframe(sections) => {
            sections.get(usize::try_from(function.section).ok()?)?.abi().ok()
        }
        Source::Cfi(_) | Source::Code(_) => set.elf.abi(),
    }
}

fn place(function: Function, names: &Names<'_, '_>) -> FunctionPlace {
    FunctionPlace { function, code_section: names.section(function.start) }
}
