//! Finds CFI functions that may be described by SFrame functions without a readable start address.
//!
//! A start address is unreadable, for example, after a relocation at the wrong place. The code of such a function is
//! not lost, but its location is unknown. The assembler gives both entries of a function the same size. So a CFI
//! function that no SFrame function describes is undecided if it has the size of one without a start address, unless
//! its own CFI keeps it out of SFrame.

use sframe_validator::Version;

use crate::cfi::{Fde, RowContext};
use crate::coverage::{Stubs, examine};
use crate::witness::Places;

/// The search for such CFI functions.
pub(super) struct Search<'c, 'p> {
    places: &'p Places,
    /// The version of the sections.
    version: Version,
    /// The function of the last request, and the answer.
    last: Option<(Fde<'c>, bool)>,
}

impl<'c, 'p> Search<'c, 'p> {
    pub(super) const fn new(places: &'p Places, version: Version) -> Search<'c, 'p> {
        Search { places, version, last: None }
    }

    /// Whether no SFrame function with a start address describes `function`, but one without may.
    #[inline]
    pub(super) fn may_be_about(&mut self, function: Fde<'c>) -> bool {
        !self.places.unplaced.are_gone() && self.seek(function)
    }

    #[cold]
    fn seek(&mut self, function: Fde<'c>) -> bool {
        if let Some((_, known)) = self.last.filter(|(last, _)| *last == function) {
            return known;
        }
        let known = self.places.unplaced.has_size(function.size())
            && !self.places.describe_any(function.start(), function.size())
            && self.nothing_keeps_out(&function);
        self.last = Some((function, known));
        known
    }

    /// Starts are unreadable only in relocatable objects, which have no stubs.
    fn nothing_keeps_out(&self, function: &Fde<'_>) -> bool {
        let mut context = RowContext::new(function.cfi());
        examine(&Stubs::default(), function, self.version, &mut context).cause.is_none()
    }
}
