//! The rows of SFrame and CFI about one chunk of code after the other.

use core::ops::ControlFlow;

use sframe_validator::Section;
use sframe_validator::elf::Elf;
use sframe_validator::unwind::{CodeAddress, Row};

use super::Stated;
use crate::cfi::{Cfi, Fde, RowContext, same};
use crate::code::Code;
use crate::compare::file::{evidence, judge_rows};
use crate::compare::sweep::{Observer, sweep_ranges};
use crate::compare::verdict::Verdict;
use crate::witness::{
    Budgets, CfiWitness, CodeRange, Current, Evidence, Lookup, Places, Says, SframeFunction,
    SframeWitness, Witness,
};

/// Code about which each witness makes a single statement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece<'c> {
    /// The first PC.
    pub(super) start: CodeAddress,
    /// The end, exclusive.
    pub(super) end: u64,
    pub(super) sframe: Statement<SframeFunction>,
    pub(super) cfi: Statement<Fde<'c>>,
    /// Both have rows, which differ.
    pub(super) differ: bool,
}

/// What a witness says about a piece.
#[derive(Clone, Copy, Debug)]
pub(super) enum Statement<F> {
    Nothing,
    Unreadable,
    Row(Stated<F>),
}

impl<F: Copy> Statement<F> {
    fn of(says: &Says<'_, F, Row>) -> Statement<F> {
        match says {
            Says::Nothing | Says::NoRows(_) => Statement::Nothing,
            Says::Unread(_) | Says::Unreadable(_) => Statement::Unreadable,
            Says::Row(function, row) => Statement::Row(Stated {
                function: *function,
                row_start: row.start,
                frame: row.frame,
            }),
        }
    }

    pub(super) const fn is_nothing(&self) -> bool {
        matches!(self, Statement::Nothing)
    }

    pub(super) const fn row(&self) -> Option<&Stated<F>> {
        match self {
            Statement::Row(stated) => Some(stated),
            _ => None,
        }
    }
}

/// The functions of a chunk, and the pieces in them, both in the order of addresses.
pub(super) struct Chunk<'r, 'c> {
    pub(super) functions: &'r [CodeRange],
    pub(super) pieces: Vec<Piece<'c>>,
}

/// Passes the chunks of a file, of about `size` bytes of code, to `examine`.
pub(super) fn with_chunks<'c, T>(
    size: u64,
    code: &Code<'_>,
    elf: &Elf<'_>,
    sections: &[Section<'_>],
    cfi: &'c [Cfi<'c>],
    examine: impl FnOnce(&mut (dyn Iterator<Item = Chunk<'_, 'c>> + Send)) -> T,
) -> T {
    let places = Places::of(sections);
    // Needed only for repeated blocks of version 1.
    let mut lookup = None;
    let evidence = |current: &Current<'_>, place: CodeAddress, row: &Row| {
        evidence(lookup.get_or_insert_with(|| Lookup::new(cfi)), current, place, row)
    };
    let mut budgets = Budgets::new(sections, elf.data().len() as u64);
    let origin = CodeAddress::absolute(0);
    let mut sframe =
        SframeWitness::new(sections, &places.functions, origin, elf.abi(), &mut budgets, evidence);
    let mut contexts: Vec<_> = cfi.iter().map(RowContext::new).collect();
    let mut cfi = CfiWitness::new(cfi, &mut contexts);
    let mut rest = code.functions();
    let mut chunks = core::iter::from_fn(|| {
        let functions = next_chunk(size, &mut rest)?;
        let mut pieces = Pieces(Vec::new());
        let _whole = sweep_ranges(functions, &mut sframe, &mut cfi, &mut pieces);
        Some(Chunk { functions, pieces: pieces.0 })
    });
    examine(&mut chunks)
}

/// Takes functions with `size` bytes of code from the start of `rest`.
fn next_chunk<'r>(size: u64, rest: &mut &'r [CodeRange]) -> Option<&'r [CodeRange]> {
    let mut bytes = 0_u64;
    let count = rest.iter().take_while(|function| {
        let has_room = bytes < size;
        bytes = bytes.saturating_add(function.bytes());
        has_room
    });
    let count = count.count();
    let (chunk, left) = rest.split_at_checked(count)?;
    *rest = left;
    (!chunk.is_empty()).then_some(chunk)
}

/// Collects pieces.
struct Pieces<'c>(Vec<Piece<'c>>);

impl<'c, 'w, E> Observer<SframeWitness<'w, E>, CfiWitness<'c, '_>> for Pieces<'c>
where
    E: FnMut(&Current<'w>, CodeAddress, &Row) -> Evidence,
{
    const ALL_ROWS: bool = true;

    fn piece(
        &mut self,
        place: CodeAddress,
        end: u64,
        sframe: &mut SframeWitness<'w, E>,
        cfi: &mut CfiWitness<'c, '_>,
    ) -> ControlFlow<()> {
        let (in_sframe, in_cfi) = (sframe.says(), cfi.says());
        let differ = match (sframe.current(), &in_sframe, &in_cfi) {
            (Some(current), Says::Row(_, row), Says::Row(_, other)) => {
                !same(&row.frame, &other.frame)
                    && matches!(
                        judge_rows(current, row, other, cfi.marks()).verdict,
                        Verdict::Different(_)
                    )
            }
            _ => false,
        };
        let (sframe, cfi) = (Statement::of(&in_sframe), Statement::of(&in_cfi));
        if !sframe.is_nothing() || !cfi.is_nothing() {
            self.0.push(Piece { start: place, end, sframe, cfi, differ });
        }
        ControlFlow::Continue(())
    }
}
