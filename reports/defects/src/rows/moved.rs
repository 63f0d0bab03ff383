//! Rows of functions that a linker left at wrong places (`starts-not-adjusted`).

use sframe_oracle::account::Differing;
use sframe_oracle::cfi::Cfi;
use sframe_validator::Section;
use sframe_validator::unwind::CodeAddress;

use super::{RowDefects, assembler};
use crate::evidence::Unadjusted;

impl<'r, 'c: 'r> RowDefects<'r, 'c> {
    /// The defect, if the row is right where the function really is, or what the assembler wrote there.
    pub(super) fn moved(
        &mut self,
        differing: &Differing<'c>,
        section: &Section<'_>,
    ) -> Option<&'static str> {
        if !self.is_linked() || self.sections.len() != 1 {
            return None;
        }
        let (elf, cfi, producers) = (self.elf, self.cfi, self.producers);
        let unadjusted = self
            .unadjusted
            .get_or_insert_with(|| Unadjusted::of(&producers(elf), elf, section, cfi));
        unadjusted.as_ref()?;
        let distance = section.entry(differing.function.index)?.offset();
        let real = |address: u64| address.wrapping_add(distance);
        let start = CodeAddress {
            address: real(differing.function.start.address),
            ..differing.function.start
        };
        let fde = cfi
            .iter()
            .find_map(|cfi: &'c Cfi<'c>| cfi.find(start).filter(|fde| fde.start() == start))?;
        let modelled = self.modelled(&fde, assembler(section)?)?;
        let range = real(differing.start.address)..real(differing.end);
        let row = differing.row_start.map(real);
        let is_written = modelled.matching(range.clone(), row, &differing.sframe).next().is_some();
        let is_so = is_written || modelled.is_right(range, &differing.sframe);
        is_so.then_some("starts-not-adjusted")
    }
}
