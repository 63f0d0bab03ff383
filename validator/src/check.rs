//! The check of a section and of the file around it: applies the catalogue's rules, in an order in
//! which a defect is found at its cause.

use crate::finding::Report;
use crate::section::Placement;

/// What to check, and how much of what is found to keep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Check lint-level rules as well.
    pub pedantic: bool,
    /// How many findings of each rule to keep; all of them are counted.
    pub keep: usize,
}

impl Default for Options {
    /// No lints; the first three findings of each rule.
    fn default() -> Options {
        Options { pedantic: false, keep: 3 }
    }
}

/// Checks the bytes of one section without a file around it.
#[must_use]
pub fn check_section(data: &[u8], placement: Placement<'_>, options: &Options) -> Report {
    let _ = (data, placement, options);
    Report::default()
}

/// Checks every SFrame section of an ELF file, and what of the file concerns them.
#[cfg(feature = "elf")]
#[must_use]
pub fn check_elf(file: &crate::elf::Elf<'_>, options: &Options) -> Report {
    let _ = (file, options);
    Report::default()
}
