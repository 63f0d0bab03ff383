//! The statements of SFrame and CFI about pieces of code, side by side.

use core::ops::ControlFlow;

use sframe_validator::unwind::{CodeAddress, Frame, Row};

use super::file::{evidence, judge_rows};
use super::sweep::{Observer, sweep_ranges};
use super::tables::Tables;
use super::verdict::Verdict;
use crate::cfi::{Fde, RowContext, same};
use crate::witness::{
    Budgets, CfiWitness, CodeRange, Current, Evidence, Lookup, Places, Says, SframeFunction,
    SframeWitness, Witness,
};

/// Gives `look` a function that collects the pieces in ranges of code, except for those about which no witness says anything. The
/// ranges must be ordered, also those of one call after those of the one before.
pub(in crate::compare) fn with_pieces<'c, T>(
    Tables { elf, sections, cfi }: Tables<'_, 'c>,
    look: impl FnOnce(&mut (dyn FnMut(&[CodeRange]) -> Vec<Piece<'c>> + Send)) -> T,
) -> T {
    let places = Places::of(sections);
    // Needed only for repeated blocks of version 1.
    let mut lookup = None;
    let evidence = |current: &Current<'_>, place: CodeAddress, row: &Row| {
        evidence(lookup.get_or_insert_with(|| Lookup::new(cfi)), current, place, row)
    };
    let mut budgets = Budgets::new(sections, elf.data().len() as u64);
    let mut sframe =
        SframeWitness::new(sections, &places.functions, elf.abi(), &mut budgets, evidence);
    let mut contexts: Vec<_> = cfi.iter().map(RowContext::new).collect();
    let mut cfi = CfiWitness::new(cfi, &mut contexts);
    // Calls with as much code have about as many pieces.
    let mut usual = 0;
    look(&mut |code| {
        let mut pieces = Pieces(Vec::with_capacity(usual));
        let _whole = sweep_ranges(code, &mut sframe, &mut cfi, &mut pieces);
        usual = pieces.0.len();
        pieces.0
    })
}

/// Code about which each witness makes a single statement.
#[derive(Clone, Copy, Debug)]
pub(in crate::compare) struct Piece<'c> {
    /// The first PC.
    pub(in crate::compare) start: CodeAddress,
    /// The end, exclusive.
    pub(in crate::compare) end: u64,
    pub(in crate::compare) sframe: Statement<SframeFunction>,
    pub(in crate::compare) cfi: Statement<Fde<'c>>,
    /// Both have rows, which differ.
    pub(in crate::compare) differ: bool,
}

/// The row of a witness in a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stated<F> {
    /// The function.
    pub function: F,
    /// The first PC of the row.
    pub row_start: u64,
    /// The row's frame.
    pub frame: Frame,
}

/// What a witness says about a piece.
#[derive(Clone, Copy, Debug)]
pub(in crate::compare) enum Statement<F> {
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

    pub(in crate::compare) const fn is_nothing(&self) -> bool {
        matches!(self, Statement::Nothing)
    }

    pub(in crate::compare) const fn row(&self) -> Option<&Stated<F>> {
        match self {
            Statement::Row(stated) => Some(stated),
            _ => None,
        }
    }
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
