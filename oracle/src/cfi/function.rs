//! The functions of a section, in the order of the file and of their addresses.

use sframe_validator::section::CodeAddress;

use super::entry::{Cie, FdeRecord};
use super::error::CfiErrorKind;
use super::instruction::Instructions;
use super::rows::{RowContext, Rows};
use super::section::Cfi;

/// A function as CFI describes it: one FDE.
#[derive(Clone, Copy, Debug)]
pub struct Fde<'c> {
    cfi: &'c Cfi<'c>,
    record: &'c FdeRecord,
    cie: &'c Cie,
}

impl Cfi<'_> {
    /// Orders functions by address, and finds those that are empty or overlap.
    pub(super) fn sort(&mut self) {
        if !self.fdes.is_sorted_by_key(|fde| (fde.start, fde.size)) {
            self.order = self.order_by_address();
        }
        let mut defects = Vec::new();
        // The function before that reaches furthest.
        let mut reaching: Option<&FdeRecord> = None;
        for record in (0..self.fdes.len()).filter_map(|place| self.record_at(place)) {
            if record.size == 0 {
                defects.push(CfiErrorKind::EmptyRange.at(record.offset.into()));
                continue;
            }
            let end = |fde: &FdeRecord| fde.start.address.saturating_add(fde.size);
            match reaching.filter(|last| last.start.section == record.start.section) {
                Some(last) if end(last) > record.start.address => {
                    let kind = CfiErrorKind::Overlap(last.offset.into());
                    defects.push(kind.at(record.offset.into()));
                    if end(record) > end(last) {
                        reaching = Some(record);
                    }
                }
                _ => reaching = Some(record),
            }
        }
        for error in defects {
            self.defect(error);
        }
    }

    /// Indices into the functions by section, address and size.
    fn order_by_address(&self) -> Vec<u32> {
        self.order_by_distance().unwrap_or_else(|| {
            let mut order: Vec<u32> = self.fdes.iter().zip(0..).map(|(_, index)| index).collect();
            order.sort_by_key(|index| self.record(*index).map(|fde| (fde.start, fde.size)));
            order
        })
    }

    /// The same by the distance from the first function and the index in one number, which takes
    /// less than half the time; `None` where they do not fit in one, or two functions start at one
    /// place.
    fn order_by_distance(&self) -> Option<Vec<u32>> {
        const INDEX_BITS: u32 = 24;
        let first = self.fdes.iter().map(|fde| fde.start).min()?;
        let fits = self.fdes.len() <= 1 << INDEX_BITS;
        let place = |(fde, index): (&FdeRecord, u64)| {
            let distance = fde.start.address.checked_sub(first.address)?;
            let near = fits && fde.start.section == first.section;
            (near && distance < 1 << (u64::BITS - INDEX_BITS))
                .then_some(distance << INDEX_BITS | index)
        };
        let mut places: Vec<u64> = self.fdes.iter().zip(0..).map(place).collect::<Option<_>>()?;
        places.sort_unstable();
        let apart = |a: &u64, b: &u64| a >> INDEX_BITS != b >> INDEX_BITS;
        let index = |place: &u64| u32::try_from(place & ((1 << INDEX_BITS) - 1)).ok();
        places.is_sorted_by(apart).then(|| places.iter().filter_map(index).collect())
    }

    fn record(&self, index: u32) -> Option<&FdeRecord> {
        self.fdes.get(usize::try_from(index).ok()?)
    }

    fn fde<'c>(&'c self, record: &'c FdeRecord) -> Option<Fde<'c>> {
        let cie = self.cies.get(usize::try_from(record.cie).ok()?)?;
        Some(Fde { cfi: self, record, cie })
    }

    /// The functions in the order of the file.
    pub fn functions(&self) -> impl Iterator<Item = Fde<'_>> {
        self.fdes.iter().filter_map(|record| self.fde(record))
    }

    /// The functions by section and address, then by size.
    pub fn sorted(&self) -> impl Iterator<Item = Fde<'_>> {
        (0..self.fdes.len()).filter_map(|place| self.fde(self.record_at(place)?))
    }

    /// Function number `place` of [`Cfi::sorted`].
    #[inline]
    pub(crate) fn nth_sorted(&self, place: usize) -> Option<Fde<'_>> {
        self.fde(self.record_at(place)?)
    }

    /// Where function number `place` of [`Cfi::sorted`] starts, and its size.
    #[inline]
    pub(crate) fn nth_range(&self, place: usize) -> Option<(CodeAddress, u64)> {
        self.record_at(place).map(|record| (record.start, record.size))
    }

    /// Entry `place` of the order by address.
    fn record_at(&self, place: usize) -> Option<&FdeRecord> {
        match self.order.get(place) {
            Some(index) => self.record(*index),
            None => self.fdes.get(place),
        }
    }

    /// The function whose range has `place`; of several, the one that starts last, and of those the
    /// largest. One without bytes is passed over.
    #[must_use]
    pub fn find(&self, place: CodeAddress) -> Option<Fde<'_>> {
        let (mut low, mut high) = (0, self.fdes.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if self.record_at(middle).is_some_and(|record| record.start <= place) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        // Functions without bytes hide none.
        let mut before = (0..low).rev().filter_map(|place| self.record_at(place));
        let fde = self.fde(before.find(|record| record.size > 0)?)?;
        fde.contains(place).then_some(fde)
    }
}

impl PartialEq for Fde<'_> {
    /// Whether both are the same entry of the same section.
    fn eq(&self, other: &Fde<'_>) -> bool {
        core::ptr::eq(self.record, other.record)
    }
}

impl<'c> Fde<'c> {
    /// Section offset of the entry.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.record.offset as u64
    }

    /// The section it stands in.
    #[must_use]
    pub const fn cfi(&self) -> &'c Cfi<'c> {
        self.cfi
    }

    /// The CIE it follows.
    #[must_use]
    pub const fn cie(&self) -> &'c Cie {
        self.cie
    }

    /// Where the function starts.
    #[must_use]
    pub const fn start(&self) -> CodeAddress {
        self.record.start
    }

    /// Bytes of code.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.record.size
    }

    /// Whether `place` is in the function's range.
    #[must_use]
    pub const fn contains(&self, place: CodeAddress) -> bool {
        place.section == self.record.start.section
            && place.address.wrapping_sub(self.record.start.address) < self.record.size
    }

    /// The instructions, without the CIE's initial ones.
    #[must_use]
    pub fn instructions(&self) -> Instructions<'c> {
        self.cfi.instructions(self.record.instructions, self.cie)
    }

    /// Bytes of the instructions, without the CIE's initial ones.
    pub(crate) const fn instruction_bytes(&self) -> u64 {
        let (start, end) = self.record.instructions;
        end.saturating_sub(start) as u64
    }

    /// The rows, by evaluating the instructions. An error ends them.
    #[inline]
    pub fn rows<'x>(&self, context: &'x mut RowContext) -> Rows<'c, 'x> {
        Rows::new(self, context)
    }
}
