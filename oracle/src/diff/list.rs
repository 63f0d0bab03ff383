//! A witness that lists the rows of a function when it is entered.

use sframe_validator::unwind::{CodeAddress, Row};

use super::Function;
use super::source::{CodeReader, CodeRows, fde};
use crate::cfi::{Cfi, RowContext};
use crate::code::{Program, Workspace};
use crate::witness::{CodeRange, Cursor, Left, Marks, Says, Shared, Witness};

/// The end of a piece of a function's code, which starts where the one before it ends, and its row; `None` if it cannot be read,
/// or nothing is proven.
type Piece = (u64, Option<Row>);

/// What lists the rows of a function.
pub(super) enum RowList<'w, 's> {
    /// Call frame information, with a context for each section.
    Cfi(&'s [Cfi<'s>], &'w mut [RowContext]),
    /// Machine code.
    Code(&'w mut CodeReader<'s>),
}

impl<'s> RowList<'_, 's> {
    fn marks(&self, function: &Function) -> Marks {
        let fde = match self {
            RowList::Cfi(cfi, _) => fde(cfi, function),
            RowList::Code(_) => None,
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
                        pieces.push((row.end, Some(*row)));
                    }
                }
            }
            RowList::Code(reader) => {
                pieces = reader(CodeRange { start: function.start, end: function.end() });
            }
        }
        let end = function.end();
        let known = pieces.last().map_or(function.start.address, |(end, _)| *end);
        if known < end {
            pieces.push((end, None));
        }
        pieces
    }
}

impl CodeRows for Program<'_> {
    fn ranges(&self) -> &[CodeRange] {
        self.functions()
    }

    fn reader(&self) -> CodeReader<'_> {
        let mut workspace = Workspace::default();
        Box::new(move |range| {
            let Some(mut function) = self.function_in(range.start, &mut workspace) else {
                return Vec::new();
            };
            let (mut pieces, mut known) = (Vec::<Piece>::new(), range.start.address);
            function.visit(known..range.end, |start, end, facts| {
                if known < start {
                    pieces.push((start, None));
                }
                known = end;
                let frame = facts.proven_row().frame();
                match pieces.last_mut() {
                    Some((last_end, row)) if row.map(|row| row.frame) == frame => {
                        *last_end = end;
                        if let Some(row) = row {
                            row.end = end;
                        }
                    }
                    _ => pieces.push((end, frame.map(|frame| Row { start, end, frame }))),
                }
            });
            workspace.recycle(function);
            pieces
        })
    }
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

    fn read(&mut self, address: u64) -> u64 {
        let Some((function, _)) = &self.current else { return u64::MAX };
        let address = address.wrapping_add(self.origin.address);
        let pieces = self.pieces.get_or_insert_with(|| self.list.rows(function));
        while let Some(piece) = pieces.get(self.number) {
            if piece.0 > address {
                return piece.0.wrapping_sub(self.origin.address);
            }
            self.number += 1;
        }
        u64::MAX
    }

    fn says(&self) -> Says<'_, Function, Row> {
        let Some((function, _)) = self.current else { return Says::Nothing };
        match self.pieces.as_ref().and_then(|pieces| pieces.get(self.number)) {
            Some((_, Some(row))) => Says::Row(function, row),
            _ => Says::Unreadable(function),
        }
    }

    fn note(&mut self, shared: Shared) {
        self.shared = self.shared.with(shared);
    }

    fn finish(&mut self, left: &mut impl FnMut(Left<Function, Self::Error>)) {
        if let Some((function, _)) = self.current.take() {
            left(Left { function, shared: self.shared, error: None });
        }
    }
}
