//! A witness that lists the rows of a function when it is entered.

use sframe_validator::unwind::{CodeAddress, Row};

use super::Function;
use crate::cfi::{Cfi, Fde, RowContext};
use crate::code::{Program, Workspace};
use crate::witness::{Cursor, Left, Marks, Says, Shared, Witness};

/// The statement about a piece of a function's code, which starts where the one before it ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    end: u64,
    /// `None` if it cannot be read, or nothing is proven.
    pub(super) row: Option<Row>,
}

/// What lists the rows of a function.
pub(super) enum RowList<'w, 's> {
    /// Call frame information, with a context for each section.
    Cfi(&'s [Cfi<'s>], &'w mut [RowContext]),
    /// Machine code.
    Code(&'s Program<'s>, &'w mut Workspace<'s>),
}

impl<'s> RowList<'_, 's> {
    fn marks(&self, function: &Function) -> Marks {
        let fde = match self {
            RowList::Cfi(cfi, _) => fde(cfi, function),
            RowList::Code(..) => None,
        };
        fde.map(|fde| Marks::of_cie(fde.cie())).unwrap_or_default()
    }

    /// The pieces of a function, in order and without gaps.
    pub(super) fn rows(&mut self, function: &Function) -> Vec<Piece> {
        let mut pieces = Vec::new();
        match self {
            RowList::Cfi(cfi, contexts) => {
                let context = contexts.get_mut(function.section as usize);
                if let (Some(fde), Some(context)) = (fde(cfi, function), context) {
                    let mut rows = fde.rows(context);
                    while let Ok(Some(row)) = rows.next_row() {
                        pieces.push(Piece { end: row.end, row: Some(*row) });
                    }
                }
            }
            RowList::Code(program, workspace) => proven(program, workspace, function, &mut pieces),
        }
        let end = function.end();
        let known = pieces.last().map_or(function.start.address, |piece| piece.end);
        if known < end {
            pieces.push(Piece { end, row: None });
        }
        pieces
    }
}

/// A function's description in call frame information.
pub(super) fn fde<'s>(cfi: &'s [Cfi<'s>], function: &Function) -> Option<Fde<'s>> {
    let section = cfi.get(usize::try_from(function.section).ok()?)?;
    section.nth_sorted(usize::try_from(function.index).ok()?)
}

/// Lists the rows that the code of a function proves completely.
fn proven<'s>(
    program: &Program<'s>,
    workspace: &mut Workspace<'s>,
    function: &Function,
    pieces: &mut Vec<Piece>,
) {
    let Some(mut analysed) = program.function_in(function.start, workspace) else { return };
    let mut known = function.start.address;
    analysed.visit(known..function.end(), |start, end, facts| {
        if known < start {
            pieces.push(Piece { end: start, row: None });
        }
        known = end;
        let frame = facts.proven_row().frame();
        match pieces.last_mut() {
            Some(last) if last.row.map(|row| row.frame) == frame => {
                last.end = end;
                if let Some(row) = &mut last.row {
                    row.end = end;
                }
            }
            _ => {
                let row = frame.map(|frame| Row { start, end, frame });
                pieces.push(Piece { end, row });
            }
        }
    });
    workspace.recycle(analysed);
}

/// The functions of a list as a witness.
pub(super) struct ListWitness<'w, 's> {
    functions: &'w [Function],
    /// The place to which addresses are relative.
    origin: CodeAddress,
    list: RowList<'w, 's>,
    cursor: Cursor,
    current: Option<(Function, Marks)>,
    /// The pieces of the current function; `None` before they are listed.
    pieces: Option<Vec<Piece>>,
    /// The number of the piece read last.
    number: usize,
    shared: Shared,
}

impl<'w, 's> ListWitness<'w, 's> {
    /// A witness for ordered functions. Requested places are relative to `origin`, including its section.
    pub(super) fn new(
        functions: &'w [Function],
        origin: CodeAddress,
        list: RowList<'w, 's>,
    ) -> ListWitness<'w, 's> {
        ListWitness {
            functions,
            origin,
            list,
            cursor: Cursor::default(),
            current: None,
            pieces: None,
            number: 0,
            shared: Shared::Unknown,
        }
    }

    /// The marks of the function entered last.
    pub(super) fn marks(&self) -> Marks {
        self.current.map(|(_, marks)| marks).unwrap_or_default()
    }
}

impl Witness for ListWitness<'_, '_> {
    type Function = Function;
    type Row = Row;
    type Error = core::convert::Infallible;

    fn enter(
        &mut self,
        place: CodeAddress,
        left: &mut impl FnMut(Left<Function, Self::Error>),
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
            Some((CodeAddress { section, address }, function.size))
        });
        match number {
            Ok(number) => {
                self.current = functions.get(number).map(|it| (*it, self.list.marks(it)));
                (self.pieces, self.number, self.shared) = (None, 0, Shared::Unknown);
                self.cursor.limit()
            }
            Err(until) => until,
        }
    }

    fn describes(&self) -> bool {
        self.current.is_some()
    }

    fn read(&mut self, address: u64, _wanted: bool) -> u64 {
        let Some((function, _)) = &self.current else { return u64::MAX };
        let address = address.wrapping_add(self.origin.address);
        let pieces = self.pieces.get_or_insert_with(|| self.list.rows(function));
        while let Some(piece) = pieces.get(self.number) {
            if piece.end > address {
                return piece.end.wrapping_sub(self.origin.address);
            }
            self.number += 1;
        }
        u64::MAX
    }

    fn says(&self) -> Says<'_, Function, Row> {
        let Some((function, _)) = self.current else { return Says::Nothing };
        match self.pieces.as_ref().and_then(|pieces| pieces.get(self.number)) {
            Some(Piece { row: Some(row), .. }) => Says::Row(function, row),
            _ => Says::Unreadable(function),
        }
    }

    fn note(&mut self, shared: bool) {
        self.shared = self.shared.with(shared);
    }

    fn finish(&mut self, left: &mut impl FnMut(Left<Function, Self::Error>)) {
        if let Some((function, _)) = self.current.take() {
            left(Left { function, shared: self.shared, error: None });
        }
    }
}
