//! The specification's rows, by the validator's reader.

use core::ops::Range;
use std::collections::HashMap;

use sframe_validator::section::{Error, Function, FunctionEntry, RowLayout};
use sframe_validator::unwind::Frame;
use sframe_validator::{Placement, Section};

use crate::input::Input;
use crate::rows::{SPENT, Work};

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
    /// Its rows in the list of all.
    rows: Range<usize>,
    /// Whether all of its rows were read. Otherwise, nothing is known from the last one on.
    is_complete: bool,
}

/// A row of a function.
#[derive(Clone, Copy, Debug)]
struct DescribedRow {
    /// The offset from which on it holds: the largest start of a row up to it.
    start: u32,
    /// The number of its frame in [`Frames`].
    frame: u32,
}

/// Frames by number. Sections have few different ones.
#[derive(Debug, Default)]
struct Frames {
    list: Vec<Frame>,
    numbers: HashMap<Frame, u32>,
}

impl Frames {
    /// The number of a frame that cannot be read.
    const UNREADABLE: u32 = u32::MAX;

    fn number(&mut self, frame: Frame) -> u32 {
        let next = u32::try_from(self.list.len()).unwrap_or(Frames::UNREADABLE);
        let number = *self.numbers.entry(frame).or_insert(next);
        if number == next {
            self.list.push(frame);
        }
        number
    }

    /// The frame with a number; `None` if it cannot be read.
    fn get(&self, number: u32) -> Option<Frame> {
        self.list.get(usize::try_from(number).ok()?).copied()
    }
}

/// The functions of a section.
#[derive(Debug, Default)]
pub(super) struct Specification {
    /// Ordered by address. They do not overlap, and none is empty.
    functions: Vec<Described>,
    rows: Vec<DescribedRow>,
    frames: Frames,
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
        let first = self.rows.len();
        let mut block = None;
        let read = entry.function().and_then(|function| {
            block = function.repeat_size()?;
            self.read_rows(&function, work)
        });
        let is_complete = read.unwrap_or_else(|error| {
            self.cannot_read(entry.index(), &error);
            self.rows.truncate(first);
            false
        });
        let (index, start) = (entry.index(), start.address);
        self.functions.push(Described {
            index,
            start,
            end: start.saturating_add(size),
            block,
            rows: first..self.rows.len(),
            is_complete,
        });
    }

    /// Adds the rows, each up to the start of the next one. A row is not read unless the next one can be read, too: its end is
    /// not known. Returns whether all were read.
    fn read_rows(&mut self, function: &Function<'_>, work: &Work) -> Result<bool, Error> {
        let layout = RowLayout::of(function)?;
        if function.is_outermost() {
            let frame = self.frames.number(Frame::OUTERMOST);
            self.rows.push(DescribedRow { start: 0, frame });
            return Ok(true);
        }
        let mut reach = 0;
        for entry in function.frame_row_entries()? {
            if !work.take() {
                return Ok(false);
            }
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    self.cannot_read(function.index(), &error);
                    return Ok(false);
                }
            };
            let frame = match layout.interpret(&entry) {
                Ok(frame) => self.frames.number(frame),
                Err(error) => {
                    self.cannot_read(function.index(), &error);
                    Frames::UNREADABLE
                }
            };
            reach = entry.start.max(reach);
            self.rows.push(DescribedRow { start: reach, frame });
        }
        Ok(true)
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
            let covered = function.covered(&self.rows);
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

    /// The addresses at which the row changes, without those inside of repeated blocks.
    pub(super) fn places(&self) -> Vec<u64> {
        let mut places = Vec::new();
        for function in &self.functions {
            places.push(function.start);
            let rows = if function.block.is_none() { function.rows(&self.rows) } else { &[] };
            let starts = rows.iter().map(|row| function.start.saturating_add(row.start.into()));
            places.extend(starts.filter(|start| *start < function.end));
            places.push(function.end);
        }
        places
    }

    /// The first address after all functions.
    pub(super) fn end(&self) -> u64 {
        self.functions.last().map_or(0, |function| function.end)
    }

    /// Looks up any number of PCs.
    pub(super) fn lookups(&self) -> Lookups<'_> {
        Lookups { specification: self, last: None }
    }

    /// The functions with a row or something unreadable, in the order of the table, and their addresses.
    pub(super) fn functions(&self) -> &[(u32, u64)] {
        &self.starts
    }
}

/// Looks up PCs. A lookup is fast if the PC is in the same function as the one before.
pub(super) struct Lookups<'s> {
    specification: &'s Specification,
    last: Option<&'s Described>,
}

impl<'s> Lookups<'s> {
    fn function(&mut self, pc: u64) -> Option<&'s Described> {
        let covers = |function: &&Described| function.start <= pc && pc < function.end;
        if self.last.as_ref().is_none_or(|last| !covers(last)) {
            let functions = &self.specification.functions;
            let after = functions.partition_point(|function| function.start <= pc);
            self.last = after.checked_sub(1).and_then(|at| functions.get(at)).filter(covers);
        }
        self.last
    }

    /// The function that covers a PC, and its row there.
    pub(super) fn at(&mut self, pc: u64) -> Option<(u32, Says)> {
        let function = self.function(pc)?;
        Some((function.index, function.at(pc, self.specification)))
    }

    /// The number of PCs after which rows repeat; 1 outside of repeated blocks.
    pub(super) fn period(&mut self, pc: u64) -> u64 {
        self.function(pc).and_then(|function| function.block).map_or(1, u64::from)
    }
}

impl Described {
    fn rows<'r>(&self, all: &'r [DescribedRow]) -> &'r [DescribedRow] {
        all.get(self.rows.clone()).unwrap_or_default()
    }

    fn at(&self, pc: u64, specification: &Specification) -> Says {
        let offset = pc.wrapping_sub(self.start);
        let offset = self.block.map_or(offset, |block| offset % u64::from(block.max(1)));
        let offset = u32::try_from(offset).unwrap_or(u32::MAX);
        let rows = self.rows(&specification.rows);
        let next = rows.partition_point(|row| row.start <= offset);
        if next == rows.len() && !self.is_complete {
            return Says::Unreadable;
        }
        match next.checked_sub(1).and_then(|last| rows.get(last)) {
            Some(row) => specification.frames.get(row.frame).map_or(Says::Unreadable, Says::Row),
            None => Says::Nothing,
        }
    }

    /// The bytes from the first row of the function, or of each block, on.
    fn covered(&self, all: &[DescribedRow]) -> u64 {
        let length = self.end - self.start;
        let before = match self.rows(all).first() {
            Some(first) => u64::from(first.start),
            None if !self.is_complete => 0,
            None => return 0,
        };
        let Some(block) = self.block.map(|block| u64::from(block.max(1))) else {
            return length.saturating_sub(before);
        };
        let (whole, rest) = (length / block, length % block);
        whole * block.saturating_sub(before) + rest.saturating_sub(before)
    }
}
