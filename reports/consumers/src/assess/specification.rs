//! The specification's rows, by the validator's reader.

use sframe_validator::section::{Error, Function, FunctionEntry, RowLayout};
use sframe_validator::unwind::Frame;
use sframe_validator::{Placement, Section};

use crate::answer::{Stop, StopKind};
use crate::input::Input;
use crate::rows::{Rows, SPENT, Step, Work};

/// The specification gives no meaning to what the section says about a PC.
const UNREADABLE: Stop = Stop::error("the specification cannot read it");

/// What the specification says at a PC that a function covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    /// There is this row.
    Row(Frame),
    /// There is no row.
    Nothing,
    /// The function or its row cannot be read.
    Unreadable,
}

/// A function, as far as it is the last one to start.
#[derive(Debug)]
struct Described {
    index: u32,
    start: u64,
    end: u64,
    /// The size of the block that repeats.
    block: Option<u8>,
    rows: Rows,
}

/// The functions of a section.
#[derive(Debug, Default)]
pub(super) struct Specification {
    /// Ordered by address. They do not overlap, and none is empty.
    functions: Vec<Described>,
    /// The index and the address of each function with a row or something unreadable, in the order of the table.
    starts: Vec<(u32, u64)>,
    /// The bytes of code with a row or something unreadable.
    covered: u64,
    /// The first thing that cannot be read.
    pub(super) unreadable: Option<String>,
    /// Whether functions may be missing, because the header or the table cannot be read.
    pub(super) is_incomplete: bool,
    /// Why rows are left out, if some are.
    pub(super) limit: Option<&'static str>,
}

impl Specification {
    pub(super) fn of(input: &Input<'_>) -> Specification {
        let mut found = Specification::default();
        let placement = Placement::at(input.address).with_abi(Some(input.machine));
        let section = match Section::parse(input.bytes, placement) {
            Ok(section) => section,
            Err(error) => {
                found.is_incomplete = true;
                found.unreadable = Some(format!("the specification cannot read it: {error}"));
                return found;
            }
        };
        let work = Work::of_kept(input.bytes.len());
        section.entries().for_each(|entry| found.add(entry, &work));
        found.limit = work.is_spent().then_some(SPENT.reason);
        if section.entry_count() < section.header().num_fdes
            && let Some(Err(error)) = section.functions().last()
        {
            found.is_incomplete = true;
            let text = || format!("the specification cannot read the table: {error}");
            found.unreadable.get_or_insert_with(text);
        }
        found.without_overlaps();
        found
    }

    fn add(&mut self, entry: FunctionEntry<'_>, work: &Work) {
        let (Ok(start), size) = (entry.start(), u64::from(entry.size())) else { return };
        let mut block = None;
        let rows = entry.function().and_then(|function| {
            block = function.repeat_size()?;
            self.rows(&function, work)
        });
        let rows = rows.unwrap_or_else(|error| {
            self.cannot_read(entry.index(), &error);
            Rows::failed(UNREADABLE)
        });
        let (index, start) = (entry.index(), start.address);
        self.functions.push(Described {
            index,
            start,
            end: start.saturating_add(size),
            block,
            rows,
        });
    }

    /// The rows, each up to the start of the next one. A row is not read unless the next one can be read, too: its end is
    /// not known.
    fn rows(&mut self, function: &Function<'_>, work: &Work) -> Result<Rows, Error> {
        let layout = RowLayout::of(function)?;
        let mut rows = Rows::default();
        if function.is_outermost() {
            rows.push(Step { start: 0, end: 0, frame: Ok(Frame::OUTERMOST) });
            return Ok(rows);
        }
        for entry in function.frame_row_entries()? {
            if !work.take() {
                rows.fail(SPENT);
                break;
            }
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    self.cannot_read(function.index(), &error);
                    rows.fail(UNREADABLE);
                    break;
                }
            };
            let frame = layout.interpret(&entry).map_err(|error| {
                self.cannot_read(function.index(), &error);
                UNREADABLE
            });
            rows.push(Step { start: entry.start, end: 0, frame });
        }
        Ok(rows)
    }

    fn cannot_read(&mut self, function: u32, error: &Error) {
        let text = || format!("the specification cannot read function {function}: {error}");
        self.unreadable.get_or_insert_with(text);
    }

    /// Of two functions at one PC, the one that starts later is kept, as a search by address finds it.
    fn without_overlaps(&mut self) {
        self.functions.retain(|function| function.start < function.end);
        self.functions.sort_by_key(|function| function.start);
        let next: Vec<u64> = self.functions.iter().skip(1).map(|next| next.start).collect();
        for (function, next) in self.functions.iter_mut().zip(next) {
            function.end = function.end.min(next);
        }
        self.functions.retain(|function| function.start < function.end);
        for function in &self.functions {
            let covered = function.covered();
            self.covered = self.covered.saturating_add(covered);
            if covered > 0 {
                self.starts.push((function.index, function.start));
            }
        }
        self.starts.sort_unstable();
    }

    /// The number of bytes with a row or something unreadable.
    pub(super) const fn covered(&self) -> u64 {
        self.covered
    }

    /// The addresses at which what is said changes, but for repeated blocks.
    pub(super) fn places(&self) -> Vec<u64> {
        let mut places = Vec::new();
        for function in &self.functions {
            places.extend([function.start, function.end]);
            if function.block.is_none() {
                let steps = function.rows.steps().iter();
                let starts = steps.map(|step| function.start.saturating_add(u64::from(step.start)));
                places.extend(starts.filter(|start| *start < function.end));
            }
        }
        places
    }

    /// The first address after all functions.
    pub(super) fn end(&self) -> u64 {
        self.functions.last().map_or(0, |function| function.end)
    }

    fn function(&self, pc: u64) -> Option<&Described> {
        let after = self.functions.partition_point(|function| function.start <= pc);
        let function = self.functions.get(after.checked_sub(1)?)?;
        (pc < function.end).then_some(function)
    }

    /// The function that covers a PC, and what is said there.
    pub(super) fn at(&self, pc: u64) -> Option<(u32, Says)> {
        self.function(pc).map(|function| (function.index, function.at(pc)))
    }

    /// The number of PCs after which what is said repeats; 1 outside of repeated blocks.
    pub(super) fn period(&self, pc: u64) -> u64 {
        self.function(pc).and_then(|function| function.block).map_or(1, u64::from)
    }

    /// The functions with a row or something unreadable, in the order of the table, and their addresses.
    pub(super) fn functions(&self) -> &[(u32, u64)] {
        &self.starts
    }
}

impl Described {
    fn at(&self, pc: u64) -> Says {
        let offset = pc.wrapping_sub(self.start);
        let offset = self.block.map_or(offset, |block| offset % u64::from(block.max(1)));
        match self.rows.before_next(u32::try_from(offset).unwrap_or(u32::MAX)) {
            Ok(frame) => Says::Row(frame),
            Err(stop) if stop.kind == StopKind::Nothing => Says::Nothing,
            Err(_) => Says::Unreadable,
        }
    }

    /// The bytes from the first row of the function, or of each block, on.
    fn covered(&self) -> u64 {
        let length = self.end - self.start;
        let before = match self.rows.steps().first() {
            Some(first) => u64::from(first.start),
            None if self.rows.failure().is_some() => 0,
            None => return 0,
        };
        let Some(block) = self.block.map(|block| u64::from(block.max(1))) else {
            return length.saturating_sub(before);
        };
        let (whole, rest) = (length / block, length % block);
        whole * block.saturating_sub(before) + rest.saturating_sub(before)
    }
}
