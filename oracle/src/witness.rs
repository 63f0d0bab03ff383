//! Witnesses: sources of unwind rows about code.
//!
//! A [`Witness`] has functions in the order of their addresses, and rows in each function. SFrame (`sframe.rs`) and call
//! frame information (`cfi.rs`) are witnesses; a further witness is a further file here. The kernel's ORC tables are read
//! as call frame information ([`OrcFunctions`](crate::orc::OrcFunctions)).
//! [`sweep`](crate::compare::sweep) merges any two.
//!
//! Each witness is read as an unwinder reads it: where functions overlap, the one that starts last is found, and no
//! other after its end.

mod cfi;
mod cursor;
mod sframe;

use core::fmt;

use sframe_validator::unwind::{CodeAddress, Frame};

pub(crate) use cfi::{CfiWitness, Found, Lookup};
pub(crate) use cursor::Cursor;
pub use sframe::SframeFunction;
pub(crate) use sframe::{Budgets, Current, Evidence, Places, SframeWitness, hidden};

/// A source of unwind rows about code, read at ascending places.
///
/// At each place, call [`Witness::enter`] first, then [`Witness::read`] or [`Witness::skip`], then [`Witness::says`].
pub trait Witness {
    /// A function, as differences identify it.
    type Function: Copy + PartialEq;
    /// The content of a row: a statement about each PC of a range.
    type Row;
    /// A defect that ends a function's rows too early.
    type Error;

    /// Moves to `place`. Returns the address up to which the code there is described by the same function, or by none.
    /// Functions that end before `place` are passed to `left`.
    fn enter(
        &mut self,
        place: CodeAddress,
        left: &mut impl FnMut(Left<Self::Function, Self::Error>),
    ) -> u64;

    /// Whether a function describes the code at the place entered.
    fn describes(&self) -> bool;

    /// Reads the function's statement at `address`, which must be in it. Returns the address up to which the statement
    /// is valid.
    fn read(&mut self, address: u64) -> u64;

    /// Passes over the function's statement at `address`, where no other witness has a row to compare it with. A witness
    /// with expensive rows need not read them. Returns the address up to which the statement is valid.
    fn skip(&mut self, address: u64) -> u64 {
        self.read(address)
    }

    /// The witness's statement at the address read last.
    fn says(&self) -> Says<'_, Self::Function, Self::Row>;

    /// Notes how much of a piece of the function another witness describes.
    fn note(&mut self, shared: Shared);

    /// Ends reading, and passes the function entered last to `left`.
    fn finish(&mut self, left: &mut impl FnMut(Left<Self::Function, Self::Error>));
}

/// The statement of a witness about a PC.
#[derive(Debug)]
pub enum Says<'r, F, R> {
    /// Nothing: there is no function, or it has no row here.
    Nothing,
    /// Nothing: the function's entry has no rows.
    NoRows(F),
    /// A statement that was not read, because there is nothing to compare it with.
    Unread(F),
    /// A statement that cannot be read.
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

    /// How much of the piece of code is described.
    #[must_use]
    #[inline]
    pub const fn shared(&self) -> Shared {
        if self.anything() { Shared::All } else { Shared::Nothing }
    }

    /// The function, even if it has no rows.
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
    /// The defect that ends its rows too early, even if the rows after it were not requested.
    pub error: Option<E>,
}

/// How much of a function's code another witness describes, as far as it was noted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Shared {
    /// Unknown: none of its code was visited.
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
    /// How much of this code and one more piece is described.
    #[must_use]
    #[inline]
    pub const fn with(self, piece: Shared) -> Shared {
        match (self, piece) {
            (Shared::Unknown, other) | (other, Shared::Unknown) => other,
            (Shared::All, Shared::All) => Shared::All,
            (Shared::Nothing, Shared::Nothing) => Shared::Nothing,
            _ => Shared::Partly,
        }
    }
}

/// The reported statement of a witness about a range of PCs: the function, and the frame if there is one to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Statement<F> {
    /// The function.
    pub function: F,
    /// The frame; `None` if it cannot be read, if the function has no rows, or if the other witness has nothing to
    /// compare it with.
    pub frame: Option<Frame>,
}

/// The properties of a whole function other than its rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Marks {
    /// Whether it is a signal frame.
    pub signal: bool,
    /// Whether the B key signs return addresses (AArch64).
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
    /// The number of bytes.
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
