//! Unwind information besides the section. A value that is odd in a row, and the same in another
//! source, is what the code does: worth a look, and no defect.

use core::cell::OnceCell;

use crate::section::CodeAddress;
use crate::subject::RowContext;
use crate::unwind::Frame;

/// Another source of unwind information that can confirm what a row says.
///
/// It is asked only when a rule of warning level has found the row's values odd, once a row, and in
/// the order of the function table and of each function's rows.
pub trait Confirm {
    /// Whether that source says, at every PC of `[start, end)`, exactly what `frame` says.
    ///
    /// The range is not empty; `end` is an address as `start.address` is, in the same section.
    fn confirms(&self, start: CodeAddress, end: u64, frame: &Frame) -> bool;
}

/// No other source: it confirms nothing.
#[derive(Clone, Copy, Debug)]
pub struct Unconfirmed;

impl Confirm for Unconfirmed {
    fn confirms(&self, _: CodeAddress, _: u64, _: &Frame) -> bool {
        false
    }
}

/// What one row says, and who may confirm it.
pub(crate) struct Claim<'a> {
    row: &'a RowContext<'a>,
    source: &'a dyn Confirm,
    answer: OnceCell<bool>,
}

impl<'a> Claim<'a> {
    pub(super) fn new(row: &'a RowContext<'a>, source: &'a dyn Confirm) -> Claim<'a> {
        Claim { row, source, answer: OnceCell::new() }
    }

    /// Whether the source says the same wherever the row holds. Asks at most once.
    pub(super) fn is_confirmed(&self) -> bool {
        *self.answer.get_or_init(|| self.ask().unwrap_or(false))
    }

    /// `None` where the row has no meaning, holds nowhere, or holds again in each repeated block.
    fn ask(&self) -> Option<bool> {
        let frame = self.row.frame.ok()?;
        let function = self.row.function;
        if function.attributes().info.is_pc_mask() || self.row.row.start >= self.row.end {
            return None;
        }
        let base = function.start().ok()?;
        let address = base.address.checked_add(u64::from(self.row.row.start))?;
        let end = base.address.checked_add(u64::from(self.row.end))?;
        Some(self.source.confirms(CodeAddress { address, ..base }, end, &frame))
    }
}
