//! Witnesses: sources of unwind rows about code.
//!
//! A [`Witness`] has functions in the order of their addresses, and rows in each function. SFrame
//! (`sframe.rs`) and call frame information (`cfi.rs`) are witnesses; another one is another file
//! here. [`sweep`](crate::compare::sweep) lays any two over each other.
//!
//! Each witness is read as an unwinder reads it: where functions overlap, the one that starts last is
//! found, and no other after its end.

mod cfi;
mod cursor;
mod sframe;

use core::fmt;

use sframe_validator::section::CodeAddress;
use sframe_validator::unwind::Frame;

pub(crate) use cfi::{CfiWitness, Found, Lookup};
pub use sframe::SframeFunction;
pub(crate) use sframe::{Budgets, Current, Evidence, Places, SframeWitness};

/// A source of unwind rows about code, read by ascending place.
///
/// At each place, [`Witness::enter`] comes first, then [`Witness::read`], then [`Witness::says`].
pub trait Witness {
    /// A function, as differences name it.
    type Function: Copy + PartialEq;
    /// The content of a row: a statement about each PC of a range.
    type Row;
    /// A defect that ends a function's rows too early.
    type Error;

    /// Goes to `place`, and returns the address up to which the same function, or none, describes
    /// the code there. Functions that end before it are handed to `left`.
    fn enter(
        &mut self,
        place: CodeAddress,
        left: &mut impl FnMut(Left<Self::Function, Self::Error>),
    ) -> u64;

    /// Whether a function describes the code at the place entered.
    fn describes(&self) -> bool;

    /// Reads what the function says at `address`, which is in it, and returns the address up to which
    /// that holds. `wanted`: another witness has a row to compare with; a witness whose rows are
    /// costly need not read them for anything else.
    fn read(&mut self, address: u64, wanted: bool) -> u64;

    /// What the witness says at the address read last.
    fn says(&self) -> Says<'_, Self::Function, Self::Row>;

    /// Notes that another witness describes a piece of the function, or that it does not.
    fn note(&mut self, shared: bool);

    /// Ends the reading: hands over the function entered last.
    fn finish(&mut self, left: &mut impl FnMut(Left<Self::Function, Self::Error>));
}

/// What a witness says about a PC.
#[derive(Debug)]
pub enum Says<'r, F, R> {
    /// Nothing: no function, or no row of it, is there.
    Nothing,
    /// Nothing: the function's entry has no rows.
    NoRows(F),
    /// Something that was not read, because there is nothing to compare it with.
    Unread(F),
    /// Something that cannot be read.
    Unreadable(F),
    /// A row.
    Row(F, &'r R),
}

impl<F: Copy, R> Says<'_, F, R> {
    /// Whether there is a row, readable or not.
    #[must_use]
    #[inline]
    pub const fn anything(&self) -> bool {
        matches!(self, Says::Unread(_) | Says::Unreadable(_) | Says::Row(..))
    }

    /// The function, also one without rows.
    #[must_use]
    #[inline]
    pub const fn function(&self) -> Option<F> {
        match self {
            Says::Nothing => None,
            Says::NoRows(function)
            | Says::Unread(function)
            | Says::Unreadable(function)
            | Says::Row(function, _) => Some(*function),
        }
    }
}

/// A function that a witness has left.
#[derive(Clone, Copy, Debug)]
pub struct Left<F, E> {
    /// The function.
    pub function: F,
    /// How much of it the other witness describes.
    pub shared: Shared,
    /// The defect that ends its rows too early; also where rows after it were not asked for.
    pub error: Option<E>,
}

/// How much of a function's code another witness describes, as far as it was noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Shared {
    /// Nothing was noted: no code of it was looked at.
    #[default]
    Unknown,
    /// All of it.
    All,
    /// Some of it.
    Partly,
    /// Nothing of it.
    Nothing,
}

impl Shared {
    /// With one more piece, which the other witness describes or not.
    #[must_use]
    #[inline]
    pub const fn with(self, shared: bool) -> Shared {
        match (self, shared) {
            (Shared::Unknown | Shared::All, true) => Shared::All,
            (Shared::Unknown | Shared::Nothing, false) => Shared::Nothing,
            _ => Shared::Partly,
        }
    }
}

/// What a witness says about a range of PCs, in a report: the function, and the frame where there is
/// one to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statement<F> {
    /// The function.
    pub function: F,
    /// The frame; `None` where it cannot be read, where the function has no rows, or where the other
    /// witness says nothing that it could be compared with.
    pub frame: Option<Frame>,
}

/// What holds for a whole function besides its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Marks {
    /// It is a signal frame.
    pub signal: bool,
    /// The B key signs return addresses (AArch64).
    pub key_b: bool,
}

/// A range of code in one section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CodeRange {
    /// The first PC.
    pub start: CodeAddress,
    /// The end, exclusive, in the same section.
    pub end: u64,
}

impl CodeRange {
    /// Number of bytes.
    #[must_use]
    pub const fn bytes(&self) -> u64 {
        self.end.saturating_sub(self.start.address)
    }
}

impl fmt::Display for CodeRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#x}..{:#x}", self.start.address, self.end)
    }
}
