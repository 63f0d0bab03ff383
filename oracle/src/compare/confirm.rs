//! Uses CFI to confirm SFrame rows.

use core::cell::RefCell;

use sframe_validator::Version;
use sframe_validator::check::Confirm;
use sframe_validator::unwind::{CodeAddress, Frame};

use super::judge::{Side, judge};
use super::verdict::Verdict;
use crate::cfi::Cfi;
use crate::witness::{Found, Lookup, Marks};

/// Confirms rows with call frame information if [`compare`](super::compare) would find both sides equal. The first of
/// several sections that describes a PC is used.
///
/// All answers together take time linear in the bytes of the CFI, plus a binary search for each. If requests arrive in
/// an order that would take longer, the rest are not confirmed.
pub struct CfiConfirms<'c> {
    lookup: RefCell<Lookup<'c>>,
}

impl<'c> CfiConfirms<'c> {
    /// Confirms with the sections of a file's CFI, those for unwinders first, in the order of [`Cfi::load_all`].
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
            // A request about a single row costs only the search.
            if place != start && !lookup.spend(1) {
                return false;
            }
            let (Found::Row(row, function), until) = lookup.at(place) else { return false };
            // The marks of the function are not part of the request.
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
