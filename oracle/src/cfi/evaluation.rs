//! Evaluates functions one after the other.

use super::function::Fde;
use super::rows::{RowContext, Rows};

/// Evaluates the functions of one section one after the other, reusing the same machine.
#[derive(Debug)]
pub(crate) struct Evaluation<'c, 'x> {
    rows: Option<Rows<'c, 'x>>,
    /// Present only until the first function.
    context: Option<&'x mut RowContext>,
}

impl<'c, 'x> Evaluation<'c, 'x> {
    pub(crate) const fn new(context: &'x mut RowContext) -> Evaluation<'c, 'x> {
        Evaluation { rows: None, context: Some(context) }
    }

    /// Goes to the start of a function.
    #[inline]
    pub(crate) fn start(&mut self, function: &Fde<'c>) -> Option<&mut Rows<'c, 'x>> {
        match (&mut self.rows, self.context.take()) {
            (Some(rows), _) => rows.follow(function),
            (none, Some(context)) => *none = Some(function.rows(context)),
            (None, None) => {}
        }
        self.rows.as_mut()
    }

    /// The rows of the function that was started last.
    #[inline]
    pub(crate) const fn rows(&self) -> Option<&Rows<'c, 'x>> {
        self.rows.as_ref()
    }

    /// Like [`Evaluation::rows`], for reading further rows.
    #[inline]
    pub(crate) const fn rows_mut(&mut self) -> Option<&mut Rows<'c, 'x>> {
        self.rows.as_mut()
    }
}
