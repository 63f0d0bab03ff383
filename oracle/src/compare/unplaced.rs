//! SFrame functions whose start is not known, as after a relocation at the wrong place.
//!
//! What they describe is not lost, but nobody can say where it is. The assembler gives both a
//! function's entries the same size, so a CFI function that no SFrame function is about, of the
//! size of one that cannot be placed, is undecided, unless its own CFI keeps it out of SFrame.

use sframe_validator::Version;
use sframe_validator::section::CodeAddress;

use super::sframe::Place;
use crate::cfi::{Fde, RowContext};
use crate::coverage::{Cause, Stubs, examine};

/// Functions without a place.
#[derive(Debug, Default)]
pub(crate) struct Unplaced {
    count: u64,
    /// Sizes of those that are somewhere, for nothing says that they were discarded.
    sizes: Vec<u32>,
}

impl Unplaced {
    /// Takes up a function of `size` bytes.
    pub(crate) fn add(&mut self, size: u32, discarded: bool) {
        self.count += 1;
        if !discarded {
            self.sizes.push(size);
        }
    }

    /// Has to be called once all have been taken up.
    pub(crate) fn sort(&mut self) {
        self.sizes.sort_unstable();
    }

    /// How many there are.
    pub(crate) const fn count(&self) -> u64 {
        self.count
    }
}

/// The search for CFI functions that those without a place may be about.
pub(super) struct Search<'c, 'p> {
    /// The SFrame functions that have a place, in order.
    places: &'p [Place],
    unplaced: &'p Unplaced,
    /// The version of the sections.
    version: Version,
    /// The function that was asked about last, and the answer.
    last: Option<(Fde<'c>, bool)>,
}

impl<'c, 'p> Search<'c, 'p> {
    pub(super) const fn new(
        places: &'p [Place],
        unplaced: &'p Unplaced,
        version: Version,
    ) -> Search<'c, 'p> {
        Search { places, unplaced, version, last: None }
    }

    /// Whether no SFrame function is about `function`, but one without a place may be.
    #[inline]
    pub(super) fn may_be_about(&mut self, function: Fde<'c>) -> bool {
        !self.unplaced.sizes.is_empty() && self.seek(function)
    }

    #[cold]
    fn seek(&mut self, function: Fde<'c>) -> bool {
        if let Some((_, known)) = self.last.filter(|(last, _)| *last == function) {
            return known;
        }
        let size = u32::try_from(function.size());
        let known = size.is_ok_and(|size| self.unplaced.sizes.binary_search(&size).is_ok())
            && !describe_any(self.places, function.start(), function.size())
            && self.nothing_keeps_out(&function);
        self.last = Some((function, known));
        known
    }

    /// Starts are unknown only in relocatable objects, which have no stubs.
    fn nothing_keeps_out(&self, function: &Fde<'_>) -> bool {
        let mut context = RowContext::new(function.cfi());
        let examined = examine(&Stubs::default(), function, self.version, &mut context);
        examined.cause == Cause::None
    }
}

/// Whether one of `places` describes any of the `size` bytes from `start` on. Of functions that
/// overlap the one that starts last is found, so that no other reaches behind its start.
fn describe_any(places: &[Place], start: CodeAddress, size: u64) -> bool {
    let end = CodeAddress { address: start.address.saturating_add(size), ..start };
    let before = places.partition_point(|place| place.start < end);
    let last = before.checked_sub(1).and_then(|number| places.get(number));
    last.is_some_and(|last| {
        let reaches = last.start.address.saturating_add(last.size.into());
        last.start.section == start.section && start.address < reaches
    })
}
