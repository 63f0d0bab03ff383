//! Known defects of producers: which of a file's differences are cases of one.

use sframe_validator::unwind::{CodeAddress, Frame};

use super::CfiFrame;
use crate::compare::{Fields, Wrong};
use crate::witness::SframeFunction;

/// A range of PCs where SFrame's row differs from CFI's or from the code.
#[derive(Clone, Copy, Debug)]
pub struct Differing<'c> {
    /// The first PC.
    pub start: CodeAddress,
    /// The end, exclusive.
    pub end: u64,
    /// The fields that differ.
    pub fields: Fields,
    /// SFrame's function.
    pub function: SframeFunction,
    /// SFrame's frame.
    pub sframe: Frame,
    /// The stored start of SFrame's row, as in [`Range`](crate::compare::Range); `None` if the function has no rows.
    pub row_start: Option<u64>,
    /// CFI's function and its frame, if CFI describes the code and was compared.
    pub cfi: Option<CfiFrame<'c>>,
    /// Who is wrong, if the code was asked.
    pub wrong: Option<Wrong>,
}

/// Names the known defects that differences are cases of.
///
/// The account asks about every range before it groups differences, so that each member of a group is a case of the same
/// defect, or of none.
pub trait Recognise<'c> {
    /// The name of the defect that the whole range is a case of.
    fn recognise(&mut self, differing: &Differing<'c>) -> Option<&'static str>;
}

/// Recognises nothing.
impl Recognise<'_> for () {
    fn recognise(&mut self, _: &Differing<'_>) -> Option<&'static str> {
        None
    }
}
