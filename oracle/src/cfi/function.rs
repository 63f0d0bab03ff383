//! The functions of a section, in the order of the file and of their addresses.

use sframe_validator::unwind::CodeAddress;

use super::entry::{Cie, FdeRecord};
use super::instruction::Instructions;
use super::section::Cfi;

/// A function as CFI describes it: one FDE.
#[derive(Clone, Copy, Debug)]
pub struct Fde<'c> {
    cfi: &'c Cfi<'c>,
    record: &'c FdeRecord,
    cie: &'c Cie,
}

impl Cfi<'_> {
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

    /// The number of functions.
    pub(crate) const fn count(&self) -> usize {
        self.fdes.len()
    }

    /// The function at index `place` of [`Cfi::sorted`].
    #[inline]
    pub(crate) fn nth_sorted(&self, place: usize) -> Option<Fde<'_>> {
        self.fde(self.record_at(place)?)
    }

    /// The start and size of the function at index `place` of [`Cfi::sorted`].
    #[inline]
    pub(crate) fn nth_range(&self, place: usize) -> Option<(CodeAddress, u64)> {
        self.record_at(place).map(|record| (record.start, record.size))
    }

    /// The entry at index `place` in the order of addresses.
    #[inline]
    fn record_at(&self, place: usize) -> Option<&FdeRecord> {
        self.order.nth(&self.fdes, place)
    }

    /// The function whose range contains `place`. If several do, the one that starts last, and of those the largest.
    /// Functions without bytes are skipped.
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
        // Functions without bytes do not hide others.
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

    /// The section that contains the entry.
    #[must_use]
    pub const fn cfi(&self) -> &'c Cfi<'c> {
        self.cfi
    }

    /// The CIE to which the entry refers.
    #[must_use]
    pub const fn cie(&self) -> &'c Cie {
        self.cie
    }

    /// The start of the function.
    #[must_use]
    pub const fn start(&self) -> CodeAddress {
        self.record.start
    }

    /// The size in bytes of code.
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

    /// The section offsets at which the instructions start and end, without the CIE's initial ones.
    pub(crate) const fn instruction_offsets(&self) -> (u64, u64) {
        let (start, end) = self.record.instructions;
        (start as u64, end as u64)
    }

    /// The size in bytes of the instructions, without the CIE's initial ones.
    pub(crate) const fn instruction_bytes(&self) -> u64 {
        let (start, end) = self.record.instructions;
        end.saturating_sub(start) as u64
    }
}
