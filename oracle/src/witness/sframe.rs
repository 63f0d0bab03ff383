//! SFrame sections as a witness.

mod blocks;
mod places;
mod rows;

use sframe_validator::section::{Function, RowBudget};
use sframe_validator::unwind::{CodeAddress, Frame, Row};
use sframe_validator::{Abi, Section, Version};

use super::cursor::Cursor;
use super::{Left, Marks, Says, Shared, Witness};
use blocks::{Blocks, Reading, Span, choose};
use rows::Piece;

pub(crate) use blocks::Evidence;
pub use places::SframeFunction;
pub(crate) use places::{Places, hidden};

/// The remaining work for reading the rows of a file's sections, and memory for it.
#[derive(Debug)]
pub(crate) struct Budgets {
    /// The budget of each section.
    rows: Vec<RowBudget>,
    /// How many repetitions of blocks may still be read: as many as the file has bytes. Existing code has fewer, while
    /// claimed code could have billions.
    repetitions: u64,
    /// The pieces of the current function.
    pieces: Vec<Piece>,
    /// The rows of its block, if they repeat.
    block: Vec<Row>,
}

impl Budgets {
    /// Budgets for sections of a file of `file_size` bytes.
    pub(crate) fn new(sections: &[Section<'_>], file_size: u64) -> Budgets {
        let rows = sections.iter().map(Section::row_budget).collect();
        Budgets { rows, repetitions: file_size, pieces: Vec::new(), block: Vec::new() }
    }

    /// Budgets for the same work.
    pub(crate) fn copy(&self) -> Budgets {
        let Budgets { rows, repetitions, .. } = self;
        let (pieces, block) = (Vec::new(), Vec::new());
        Budgets { rows: rows.clone(), repetitions: *repetitions, pieces, block }
    }

    /// Leaves a tenth of the work. Returns whether there was any.
    #[cfg(test)]
    pub(crate) fn take_some(&mut self) -> bool {
        let some = self.repetitions > 0;
        self.repetitions /= 10;
        self.rows.iter_mut().all(|rows| rows.take(rows.left() - rows.left() / 10)) && some
    }

    /// Whether the same work is left.
    #[cfg(test)]
    pub(crate) fn is_like(&self, other: &Budgets) -> bool {
        let left = |budgets: &Budgets| budgets.rows.iter().map(RowBudget::left).collect::<Vec<_>>();
        left(self) == left(other) && self.repetitions == other.repetitions
    }

    /// Takes the work that was done between two states of other budgets. Returns false if less is left.
    pub(crate) fn take_used(&mut self, before: &Budgets, after: &Budgets) -> bool {
        let mut sections = self.rows.iter_mut().zip(before.rows.iter().zip(&after.rows));
        let are_left = sections
            .all(|(left, (before, after))| left.take(before.left().saturating_sub(after.left())));
        let repetitions = before.repetitions.saturating_sub(after.repetitions);
        let left = self.repetitions.checked_sub(repetitions);
        self.repetitions = left.unwrap_or(0);
        are_left && left.is_some()
    }
}

/// The content of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    /// It has rows, or cannot be read.
    Rows,
    /// It has no rows, which marks an outermost frame (V3 1.2).
    Outermost,
    /// It has no rows, which means nothing.
    Nothing,
}

/// How far the pieces of the current function have been read.
#[derive(Clone, Copy, Debug)]
enum Progress {
    /// No piece has been read.
    Unread,
    /// The pieces are in the list; contains the number of the current one.
    Listed(usize),
    /// The pieces are repetitions of the block.
    Repeated(Blocks),
}

/// The function at which a witness is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Current<'s> {
    pub(crate) place: SframeFunction,
    pub(crate) version: Version,
    pub(crate) abi: Abi,
    pub(crate) marks: Marks,
    /// `None` if its entry cannot be read.
    pub(crate) function: Option<Function<'s>>,
    content: Content,
}

impl Marks {
    /// The marks of an SFrame function.
    #[inline]
    pub(crate) fn of_function(function: &Function<'_>) -> Marks {
        Marks {
            signal: function.is_signal_frame(),
            key_b: function.attributes().info.pauth_key_b(),
        }
    }
}

/// The SFrame sections of a file as one witness.
///
/// An entry without rows makes a statement only in version 3 with FDE type DEFAULT, where it marks an outermost frame;
/// others describe nothing. `E` provides evidence about rows that repeat after a number of bytes that version 1 does
/// not record.
pub(crate) struct SframeWitness<'w, E> {
    sections: &'w [Section<'w>],
    /// The machine, if a section does not state it.
    abi: Option<Abi>,
    functions: &'w [SframeFunction],
    /// The place to which addresses are relative.
    origin: CodeAddress,
    budgets: &'w mut Budgets,
    evidence: E,
    cursor: Cursor,
    current: Option<Current<'w>>,
    progress: Progress,
    /// The current piece, if the pieces are repetitions.
    repetition: Option<Piece>,
    /// Whether the current piece contains the address read last; otherwise it comes after it.
    is_there: bool,
    shared: Shared,
}

impl<'w, E> SframeWitness<'w, E>
where
    E: FnMut(&Current<'w>, CodeAddress, &Row) -> Evidence,
{
    /// A witness for `functions`, which must be ordered and in `sections`.
    pub(crate) fn new(
        sections: &'w [Section<'w>],
        functions: &'w [SframeFunction],
        abi: Option<Abi>,
        budgets: &'w mut Budgets,
        evidence: E,
    ) -> Self {
        SframeWitness {
            sections,
            abi,
            functions,
            origin: CodeAddress::absolute(0),
            budgets,
            evidence,
            cursor: Cursor::default(),
            current: None,
            progress: Progress::Unread,
            repetition: None,
            is_there: false,
            shared: Shared::Unknown,
        }
    }

    /// The witness for requested places that are relative to `origin`, including its section.
    pub(crate) fn relative_to(self, origin: CodeAddress) -> Self {
        SframeWitness { origin, ..self }
    }

    /// The function at the place entered last.
    #[inline]
    pub(crate) const fn current(&self) -> Option<&Current<'w>> {
        self.current.as_ref()
    }

    /// Whether the current function extends from `start`, the place entered last, to `end`, and `test` accepts its rows.
    /// If so, it counts as read. Nothing of it has been read before, because no earlier place is in it.
    #[inline]
    pub(crate) fn all_over(
        &mut self,
        start: CodeAddress,
        end: u64,
        test: impl FnOnce(&Current<'w>, &Function<'w>, &mut RowBudget) -> bool,
    ) -> bool {
        let Some(current) = &self.current else { return false };
        if current.place.start != start || !self.cursor.ends_at(end) {
            return false;
        }
        let budget = self.budgets.rows.get_mut(current.place.section as usize);
        let (Some(function), Some(budget)) = (&current.function, budget) else { return false };
        let passes = test(current, function, budget);
        if passes {
            self.budgets.pieces.clear();
            self.progress = Progress::Listed(0);
        }
        passes
    }

    /// The properties of a function other than its rows; `None` if its machine is unknown.
    #[inline]
    fn open(&self, place: SframeFunction) -> Option<Current<'w>> {
        let section = self.sections.get(place.section as usize)?;
        let abi = section.abi().ok().or(self.abi)?;
        let function = section.entry(place.index).and_then(|entry| entry.function().ok());
        let marks = function.as_ref().map(Marks::of_function);
        let content = match &function {
            Some(function) if function.is_outermost() => Content::Outermost,
            Some(function) if function.num_rows() == 0 => Content::Nothing,
            _ => Content::Rows,
        };
        let version = section.header().version;
        let marks = marks.unwrap_or_default();
        Some(Current { place, version, abi, marks, function, content })
    }

    /// Starts reading the pieces of the current function.
    #[inline(never)]
    fn start(&mut self) {
        self.progress = Progress::Listed(0);
        self.budgets.pieces.clear();
        let Some(current) = &self.current else { return };
        let (start, end) = (current.place.start.address, self.end());
        let whole = |row| Piece { start, end, row };
        match (&current.function, current.content) {
            (_, Content::Nothing) | (None, _) => self.budgets.pieces.push(whole(None)),
            (_, Content::Outermost) => {
                let row = Row { start, end, frame: Frame::OUTERMOST };
                self.budgets.pieces.push(whole(Some(row)));
            }
            (Some(function), Content::Rows) => {
                let recorded = match function.repeat_size() {
                    Ok(None) => return self.list(*function, start, end),
                    Ok(Some(block)) => Some(Reading { block: block.into(), phase: 0 }),
                    Err(_) if current.version == Version::V1 => None,
                    // If the block has no bytes, it is unknown which row is valid where.
                    Err(_) => return self.budgets.pieces.push(whole(None)),
                };
                let span = Span { start, size: current.place.size.into(), end };
                match self.repetition(*current, *function, span, recorded) {
                    Some(reading) => {
                        self.progress = Progress::Repeated(Blocks::new(reading, span));
                        self.advance();
                    }
                    None => {
                        self.budgets.pieces.clear();
                        self.budgets.pieces.push(whole(None));
                    }
                }
            }
        }
    }

    /// Lists the pieces of the current function.
    fn list(&mut self, function: Function<'w>, start: u64, end: u64) {
        let Some(current) = &self.current else { return };
        if let Some(budget) = self.budgets.rows.get_mut(current.place.section as usize) {
            rows::read(&function, start, end, budget, &mut self.budgets.pieces);
        }
    }

    /// Reads the block of a function whose rows repeat, and how they repeat; `None` if that is unknown.
    #[cold]
    fn repetition(
        &mut self,
        current: Current<'w>,
        function: Function<'w>,
        span: Span,
        recorded: Option<Reading>,
    ) -> Option<Reading> {
        let length = recorded.map_or(span.size, |reading| reading.block);
        self.list(function, span.start, span.start.saturating_add(length));
        let Budgets { pieces, block, repetitions, .. } = &mut *self.budgets;
        block.clear();
        let row = |piece: &Piece| piece.row.map(|row| Row { start: piece.start, ..row });
        block.extend(pieces.iter().filter_map(row));
        let readable = block.len() == pieces.len();
        let evidence = &mut self.evidence;
        let section = current.place.start.section;
        let reading = recorded.or_else(|| {
            choose(block, span, repetitions, |address, row| {
                evidence(&current, CodeAddress { section, address }, row)
            })
        });
        reading.filter(|_| readable)
    }

    /// The current piece of the current function.
    #[inline(always)]
    fn piece(&self) -> Option<&Piece> {
        match &self.progress {
            Progress::Unread => None,
            Progress::Listed(number) => self.budgets.pieces.get(*number),
            Progress::Repeated(_) => self.repetition.as_ref(),
        }
    }

    /// Moves to the next piece of the current function.
    #[inline(always)]
    fn advance(&mut self) {
        match &mut self.progress {
            Progress::Unread => {}
            Progress::Listed(number) => *number += 1,
            Progress::Repeated(blocks) => {
                let Budgets { block, repetitions, .. } = &mut *self.budgets;
                self.repetition = blocks.next(block, repetitions);
            }
        }
    }

    /// The address where the current function ends or is hidden by another one.
    #[inline]
    fn end(&self) -> u64 {
        self.cursor.limit().saturating_add(self.origin.address)
    }
}

impl<'w, E> Witness for SframeWitness<'w, E>
where
    E: FnMut(&Current<'w>, CodeAddress, &Row) -> Evidence,
{
    type Function = SframeFunction;
    type Row = Row;
    type Error = core::convert::Infallible;

    #[inline]
    fn enter(
        &mut self,
        place: CodeAddress,
        left: &mut impl FnMut(Left<SframeFunction, Self::Error>),
    ) -> u64 {
        if let Some(limit) = self.cursor.limit_at(place) {
            return limit;
        }
        self.finish(left);
        let (functions, origin) = (self.functions, self.origin);
        let number = self.cursor.enter(place, |number| {
            let function = functions.get(number)?;
            let section = function.start.section.wrapping_sub(origin.section);
            let address = function.start.address.wrapping_sub(origin.address);
            Some((CodeAddress { section, address }, function.size.into()))
        });
        match number {
            Ok(number) => {
                self.current = functions.get(number).and_then(|place| self.open(*place));
                self.progress = Progress::Unread;
                self.is_there = false;
                self.shared = Shared::Unknown;
                self.cursor.limit()
            }
            Err(until) => until,
        }
    }

    #[inline]
    fn describes(&self) -> bool {
        self.current.is_some()
    }

    #[inline]
    fn read(&mut self, address: u64) -> u64 {
        if self.current.is_none() {
            return u64::MAX;
        }
        let address = address.wrapping_add(self.origin.address);
        if matches!(self.progress, Progress::Unread) {
            self.start();
        }
        while self.piece().is_some_and(|piece| piece.end <= address) {
            self.advance();
        }
        let Some(&Piece { start, end, .. }) = self.piece() else {
            self.is_there = false;
            return u64::MAX;
        };
        self.is_there = start <= address;
        let until = if self.is_there { end } else { start };
        until.wrapping_sub(self.origin.address)
    }

    #[inline]
    fn says(&self) -> Says<'_, SframeFunction, Row> {
        let Some(current) = &self.current else { return Says::Nothing };
        let Some(piece) = self.piece().filter(|_| self.is_there) else {
            return Says::Nothing;
        };
        match &piece.row {
            _ if current.content == Content::Nothing => Says::NoRows(current.place),
            Some(row) => Says::Row(current.place, row),
            None => Says::Unreadable(current.place),
        }
    }

    #[inline]
    fn note(&mut self, shared: Shared) {
        self.shared = self.shared.with(shared);
    }

    #[inline]
    fn finish(&mut self, left: &mut impl FnMut(Left<SframeFunction, Self::Error>)) {
        if let Some(current) = self.current.take() {
            left(Left { function: current.place, shared: self.shared, error: None });
        }
    }
}
