//! Unwind information from another source than the section. If a row has unusual values and another source has the
//! same, the code really does that. It is worth a look, but not a defect.

use core::cell::OnceCell;

use crate::subject::RowContext;
use crate::unwind::{CodeAddress, Frame};

/// Another source of unwind information, which can confirm the values of a row.
///
/// It is asked only if a warning-level rule has found the row's values unusual: once per row, in the order of the
/// function table and of each function's rows.
pub trait Confirm {
    /// Whether that source has exactly the values of `frame` at every PC of `[start, end)`.
    ///
    /// The range is not empty. Like `start.address`, `end` is an address or an offset in the same section.
    fn confirms(&self, start: CodeAddress, end: u64, frame: &Frame) -> bool;
}

/// The absence of another source: it confirms nothing.
#[derive(Clone, Copy, Debug)]
pub struct Unconfirmed;

impl Confirm for Unconfirmed {
    fn confirms(&self, _: CodeAddress, _: u64, _: &Frame) -> bool {
        false
    }
}

/// The values of one row, and the source that can confirm them.
pub(crate) struct Claim<'a> {
    row: &'a RowContext<'a>,
    source: &'a dyn Confirm,
    answer: OnceCell<bool>,
}

impl<'a> Claim<'a> {
    pub(super) fn new(row: &'a RowContext<'a>, source: &'a dyn Confirm) -> Claim<'a> {
        Claim { row, source, answer: OnceCell::new() }
    }

    /// Whether the source has the same values in the row's whole range. The source is asked at most once.
    pub(super) fn is_confirmed(&self) -> bool {
        *self.answer.get_or_init(|| self.ask().unwrap_or(false))
    }

    /// `None` if the row has no meaning, has an empty range, or is repeated in each block.
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
