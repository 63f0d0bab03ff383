//! CFI that confirms what an SFrame row says.

use core::cell::RefCell;

use sframe_validator::Version;
use sframe_validator::check::Confirm;
use sframe_validator::section::CodeAddress;
use sframe_validator::unwind::Frame;

use super::judge::{Side, judge};
use super::verdict::Verdict;
use crate::cfi::Cfi;
use crate::witness::{Found, Lookup, Marks};

/// Confirms rows by call frame information, as [`compare`](super::compare) would find both sides to
/// say the same: the first of several sections that describes a PC counts.
///
/// All answers together take time linear in the bytes of the CFI, besides a binary search for each:
/// where questions come in an order that takes more, the rest are not confirmed.
pub struct CfiConfirms<'c> {
    lookup: RefCell<Lookup<'c>>,
}

impl<'c> CfiConfirms<'c> {
    /// Confirms by the sections of a file's CFI, those for unwinders first, as
    /// [`Cfi::load_all`] orders them.
    #[must_use]
    pub fn new(cfi: &'c [Cfi<'c>]) -> CfiConfirms<'c> {
        CfiConfirms { lookup: RefCell::new(Lookup::new(cfi)) }
    }
}

impl Confirm for CfiConfirms<'_> {
    fn confirms(&self, start: CodeAddress, end: u64, frame: &Frame) -> bool {
        let Ok(mut lookup) = self.lookup.try_borrow_mut() else { return false };
        let mut place = start;
        while place.address < end {
            // A question about one row costs nothing but the search.
            if place != start && !lookup.spend(1) {
                return false;
            }
            let (Found::Row(row, function), until) = lookup.at(place) else { return false };
            // Marks of the whole function are no part of the question.
            let side = |frame, version| Side { frame, marks: Marks::default(), version };
            let (sframe, cfi) = (side(frame, Some(Version::V3)), side(&row.frame, None));
            if judge(sframe, cfi, function.cfi().abi()).verdict != Verdict::Equal {
                return false;
            }
            place.address = until;
        }
        true
    }
}
