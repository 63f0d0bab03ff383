//! The rows of a function, made by evaluating its instructions.

mod states;

use gimli::Reader;
use sframe_validator::Abi;
use sframe_validator::unwind::{Cfa, Expression, Frame, Row};

use super::error::{CfiError, CfiErrorKind};
use super::expression::{Bytes, Plt};
use super::function::Fde;
use super::machine::{Machine, Standing, Step};
use super::pointer::Slice;
use super::section::Cfi;
use super::state::{State, same};
use super::traces::Traces;

/// The memory for reading rows, reused over all functions of a section.
///
/// It stores remembered states, so that only the first functions allocate memory. It also has the budget for the rows
/// into which the expression of a procedure linkage table is expanded: two for each 16 bytes of code, which a malicious
/// section could claim without having any code.
#[derive(Clone, Debug)]
pub struct RowContext {
    states: Vec<State>,
    blocks: u64,
    /// The rest of a row that is being split.
    plt: Option<(Plt, Row)>,
}

impl RowContext {
    /// A context for reading all functions of `cfi` once.
    #[must_use]
    pub fn new(cfi: &Cfi<'_>) -> RowContext {
        RowContext { states: Vec::new(), blocks: cfi.file_size() / Plt::BLOCK + 1, plt: None }
    }
}

/// The reason why the rows of a function end.
#[derive(Clone, Copy, Debug)]
enum Ending {
    /// There are instructions left.
    Running,
    /// The last row extends to the end of the range; an error may follow.
    Row(Option<CfiError>),
    /// An error, without a last row.
    Error(CfiError),
    Done,
}

/// The rows of one function, in the order of their addresses, without gaps or overlaps.
///
/// Equal adjacent rows are merged, and rows without bytes are omitted, so these are the rows that an unwinder can see.
/// An error ends them: nothing is known after the end of the last row.
#[derive(Debug)]
pub struct Rows<'c, 'x> {
    machine: Machine<'c>,
    context: &'x mut RowContext,
    /// The start of the row being made.
    row_start: u64,
    location: u64,
    start: u64,
    end: u64,
    section: u32,
    plt_possible: bool,
    ending: Ending,
}

impl<'c> Fde<'c> {
    /// The rows, made by evaluating the instructions. An error ends them.
    #[inline]
    pub fn rows<'x>(&self, context: &'x mut RowContext) -> Rows<'c, 'x> {
        Rows::new(self, context)
    }
}

impl<'c, 'x> Rows<'c, 'x> {
    #[inline]
    fn new(fde: &Fde<'c>, context: &'x mut RowContext) -> Rows<'c, 'x> {
        context.states.clear();
        context.plt = None;
        let cie = fde.cie();
        let start = fde.start();
        let abi = fde.cfi().abi();
        let initial = cie.initial.as_ref();
        Rows {
            machine: Machine::new(fde.instructions(), cie, abi, initial.ok()),
            context,
            row_start: start.address,
            location: start.address,
            start: start.address,
            // This was checked when the FDE was read.
            end: start.address.saturating_add(fde.size()),
            section: start.section,
            plt_possible: abi == Abi::Amd64 && !fde.cfi().is_relocatable(),
            ending: initial.err().map_or(Ending::Running, |error| Ending::Error(*error)),
        }
    }

    /// Continues with another function of the same section, in the same context.
    #[inline]
    pub fn follow(&mut self, fde: &Fde<'c>) {
        self.context.states.clear();
        self.context.plt = None;
        let cie = fde.cie();
        let start = fde.start();
        let initial = cie.initial.as_ref();
        self.machine.follow(fde.instructions(), cie, initial.ok());
        self.row_start = start.address;
        self.location = start.address;
        self.start = start.address;
        self.end = start.address.saturating_add(fde.size());
        self.section = start.section;
        self.ending = initial.err().map_or(Ending::Running, |error| Ending::Error(*error));
    }

    /// The row that [`Rows::next_row`] returned last.
    #[must_use]
    pub const fn row(&self) -> &Row {
        &self.machine.row
    }

    /// The facts stated by the instructions read so far that no row shows.
    pub(crate) const fn traces(&self) -> Traces {
        self.machine.traces
    }

    /// The row just made, or its first part if the expression of a procedure linkage table splits it.
    #[inline]
    fn made(&mut self) -> &Row {
        if self.plt_possible
            && let Cfa::Expression(expression) = self.machine.row.frame.cfa
        {
            self.split_plt(expression);
        }
        &self.machine.row
    }

    #[cold]
    fn split_plt(&mut self, expression: Expression) {
        let row = self.machine.row;
        let Some(plt) = self.machine.bytes(expression).and_then(Bytes::plt) else { return };
        let blocks = (row.end - row.start) / Plt::BLOCK + 1;
        let Some(left) = self.context.blocks.checked_sub(blocks) else { return };
        self.context.blocks = left;
        self.next_plt(plt, row);
    }

    /// Takes the first part of a row that is being split.
    #[cold]
    fn next_plt(&mut self, plt: Plt, mut rest: Row) {
        let (cfa, next) = plt.at(rest.start);
        let end = next.map_or(rest.end, |next| next.min(rest.end));
        self.machine.row = Row { start: rest.start, end, frame: Frame { cfa, ..rest.frame } };
        rest.start = end;
        self.context.plt = (rest.start < rest.end).then_some((plt, rest));
    }

    /// Ends the row at the current location if the state has changed there. Returns whether there is a row.
    #[inline(always)]
    fn close_row(&mut self) -> bool {
        let machine = &mut self.machine;
        if !machine.touched {
            return false;
        }
        machine.touched = false;
        if same(&machine.state.frame, &machine.row.frame) {
            return false;
        }
        machine.row.start = self.row_start;
        machine.row.end = self.location;
        let some = self.row_start < self.location;
        self.row_start = self.location;
        some
    }

    /// Makes the row from the last one to `end`. Returns whether it has any bytes.
    fn last_row(&mut self, end: u64) -> bool {
        let machine = &mut self.machine;
        if !machine.touched {
            machine.row.frame = machine.state.frame;
        }
        machine.row.start = self.row_start;
        machine.row.end = end;
        self.row_start < end
    }

    /// Evaluates instructions until a row ends; `false` if they end first, or are malformed.
    #[inline]
    fn run(&mut self) -> bool {
        loop {
            match self.advance() {
                Ok(to) => {
                    let closed = self.close_row();
                    self.location = to;
                    if closed {
                        return true;
                    }
                }
                Err(ending) => {
                    self.ending = ending;
                    // The state at the location is known, unless an instruction there is malformed.
                    return match ending {
                        Ending::Error(_) => self.last_row(self.location),
                        _ => self.close_row(),
                    };
                }
            }
        }
    }

    /// Executes instructions until the location moves. Returns the new location.
    ///
    /// # Errors
    /// Returns how the rows end if the instructions end or are malformed.
    #[inline(always)]
    fn advance(&mut self) -> Result<u64, Ending> {
        let standing = self.standing();
        loop {
            let limit = self.end - self.location;
            match self.machine.until_advance(limit, &mut self.context.states, standing) {
                Some(0) => {}
                Some(bytes) => return Ok(self.location + bytes),
                None => {
                    if let Some(to) = self.step()? {
                        return Ok(to);
                    }
                }
            }
        }
    }

    /// Executes one instruction of any kind. Returns the new location if it moves.
    fn step(&mut self) -> Result<Option<u64>, Ending> {
        let at = self.machine.instructions.input;
        if at.is_empty() {
            return Err(Ending::Row(None));
        }
        let standing = self.standing();
        let to = match self.machine.step(&mut self.context.states, standing) {
            Ok(Step::Same) => return Ok(None),
            Ok(Step::Advance(bytes)) => {
                self.location.checked_add(bytes).ok_or(CfiErrorKind::AddressOverflow)
            }
            Ok(Step::MoveTo(place)) => {
                let (from, to) = (self.location, place.address);
                let onward = place.section == self.section && to >= from;
                if onward { Ok(to) } else { Err(CfiErrorKind::SetLocBackwards { from, to }) }
            }
            Err(kind) => Err(kind),
        };
        match to {
            Ok(to) if to <= self.end => Ok(Some(to).filter(|to| *to > self.location)),
            // The rows so far are valid, including the one that the advance ends.
            Ok(address) => {
                let kind = CfiErrorKind::AdvancePastEnd { address, end: self.end };
                Err(Ending::Row(Some(self.error(kind, at))))
            }
            Err(kind) => Err(Ending::Error(self.error(kind, at))),
        }
    }

    #[inline]
    const fn standing(&self) -> Standing {
        Standing {
            at_start: self.location == self.start,
            in_first_row: self.row_start == self.start,
        }
    }

    #[cold]
    fn error(&self, kind: CfiErrorKind, at: Slice<'c>) -> CfiError {
        kind.at(at.offset_from(self.machine.instructions.environment.whole) as u64)
    }

    /// The next row, by reference. The iterator copies each row, which costs as much as evaluating the instructions.
    ///
    /// # Errors
    /// Returns the error that ends the rows, once.
    #[inline]
    pub fn next_row(&mut self) -> Result<Option<&Row>, CfiError> {
        if self.context.plt.is_some() {
            return Ok(self.rest_of_plt());
        }
        if let Ending::Running = self.ending
            && self.run()
        {
            return Ok(Some(self.made()));
        }
        self.finish()
    }

    #[cold]
    fn rest_of_plt(&mut self) -> Option<&Row> {
        let (plt, rest) = self.context.plt.take()?;
        self.next_plt(plt, rest);
        Some(&self.machine.row)
    }

    #[inline(never)]
    fn finish(&mut self) -> Result<Option<&Row>, CfiError> {
        if let Ending::Row(error) = self.ending {
            self.ending = error.map_or(Ending::Done, Ending::Error);
            if self.last_row(self.end) {
                return Ok(Some(self.made()));
            }
        }
        if let Ending::Error(error) = self.ending {
            self.ending = Ending::Done;
            return Err(error);
        }
        Ok(None)
    }
}

impl Iterator for Rows<'_, '_> {
    type Item = Result<Row, CfiError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.next_row().map(|row| row.copied()).transpose()
    }
}
