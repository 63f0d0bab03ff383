//! The report of a check: findings, how often each rule was broken, and what could not be decided.

pub(crate) mod reporter;
mod undecided;

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

pub use undecided::{Undecided, UndecidedCause};

use crate::abi::{Abi, Endian};
use crate::page::{Rule, Severity};
use crate::section::{Flags, FunctionEntry, Section, Version};
use crate::unwind::CodeAddress;

/// A place where a rule is broken.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// The position in [`Report::sections`] of the section that the finding is about; `None` for the file itself.
    pub section: Option<usize>,
    /// The offset in bytes from the start of the section; `None` if the place is not in the section's bytes.
    pub offset: Option<u64>,
    /// The section's bytes that show the defect, such as a header field, a table entry or a row. These are section
    /// offsets inside the section. The range is empty if no bytes of the section are at fault.
    pub bytes: Range<u64>,
    /// The field and its value.
    pub field: Option<Field>,
    /// The function, if the finding is about one.
    pub function: Option<FunctionId>,
    /// The number of the row in its function, from 0.
    pub row: Option<u32>,
    /// The code that the finding is about, if that is narrower than the function, or if no SFrame function contains it.
    pub code: Option<CodeSpan>,
    /// One sentence without a full stop: the fact, then the rule.
    pub message: String,
}

/// A field with an invalid value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The specification's name of an SFrame field, or the name of an ELF field (`sh_type`, `p_filesz`).
    pub name: &'static str,
    /// The value as text for people.
    pub value: String,
    /// The values that would be right, as text.
    pub allowed: String,
}

/// A range of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeSpan {
    /// The first PC.
    pub start: CodeAddress,
    /// The exclusive end: like `start.address`, an address or an offset in the same section.
    pub end: u64,
}

/// The function that a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionId {
    /// Its index in the table, from 0.
    pub index: u32,
    /// Its start; `None` if that cannot be determined.
    pub start: Option<CodeAddress>,
    /// Its size in bytes of code.
    pub size: u32,
}

impl FunctionId {
    pub(crate) fn of(entry: &FunctionEntry<'_>) -> FunctionId {
        FunctionId { index: entry.index(), start: entry.start().ok(), size: entry.size() }
    }
}

/// A section that was checked.
#[derive(Clone, Debug)]
pub struct SectionSummary {
    /// The index in the ELF section header table; `None` for bytes without a file.
    pub index: Option<u32>,
    /// The section's name.
    pub name: String,
    /// Its address.
    pub address: u64,
    /// The offset of its first byte in the file.
    pub file_offset: u64,
    /// Its size in bytes.
    pub size: u64,
    /// A summary of its header; `None` if the header cannot be read.
    pub header: Option<HeaderSummary>,
    /// Whether the header could be read and leaves no doubt about where and how functions and rows are stored. Only
    /// then were they checked. If this is `false`, the functions and rows that [`Section`] returns are meaningless.
    pub certain_layout: bool,
    /// The number of functions that were read.
    pub functions: u64,
    /// The number of rows that were read.
    pub rows: u64,
    /// The number of bytes of code that its functions describe; each byte is counted once.
    pub covered_bytes: u64,
}

/// The fields of the header by which a scan summarises files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HeaderSummary {
    /// The version.
    pub version: Version,
    /// The flags.
    pub flags: Flags,
    /// The ABI, `None` for an unknown identifier.
    pub abi: Option<Abi>,
    /// The byte order.
    pub endian: Endian,
    /// The fixed offset of FP from the CFA; 0 if not fixed.
    pub fixed_fp_offset: i8,
    /// The fixed offset of RA from the CFA; 0 if not fixed.
    pub fixed_ra_offset: i8,
}

impl HeaderSummary {
    pub(crate) fn of(section: &Section<'_>) -> HeaderSummary {
        let header = section.header();
        HeaderSummary {
            version: header.version,
            flags: header.flags,
            abi: section.abi().ok(),
            endian: section.endian(),
            fixed_fp_offset: header.cfa_fixed_fp_offset,
            fixed_ra_offset: header.cfa_fixed_ra_offset,
        }
    }
}

/// How many findings of each rule a check keeps. All of them are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Keep {
    /// At most this many, the first ones.
    First(usize),
    /// All of them. Memory grows with their number.
    All,
}

impl Keep {
    /// Whether one more finding is kept if `kept` already are.
    #[must_use]
    pub fn has_room(self, kept: u64) -> bool {
        match self {
            Keep::First(most) => usize::try_from(kept).is_ok_and(|kept| kept < most),
            Keep::All => true,
        }
    }
}

/// The result of a check.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The findings that were kept, in the order of the section's bytes. How many are kept of each rule depends on
    /// [`Options::keep`](crate::check::Options::keep).
    pub findings: Vec<Finding>,
    /// How often each rule was broken, including findings not kept, in the catalogue's order.
    pub counts: Vec<(&'static Rule, u64)>,
    /// What was not checked.
    pub undecided: Vec<Undecided>,
    /// The sections.
    pub sections: Vec<SectionSummary>,
    /// The number of bytes of the file's machine code: those of its loaded, executable sections whose bytes are in the
    /// file.
    pub code_bytes: u64,
}

impl Report {
    /// The severity of the most severe finding.
    #[must_use]
    pub fn worst(&self) -> Option<Severity> {
        self.counts.iter().map(|(rule, _)| rule.severity).max()
    }

    /// How often rules of a severity were broken.
    #[must_use]
    pub fn count(&self, severity: Severity) -> u64 {
        let of_severity = self.counts.iter().filter(|(rule, _)| rule.severity == severity);
        of_severity.map(|(_, count)| *count).fold(0, u64::saturating_add)
    }

    /// The number of bytes of code that the file's sections describe.
    #[must_use]
    pub fn covered_bytes(&self) -> u64 {
        let covered = self.sections.iter().map(|section| section.covered_bytes);
        covered.fold(0, u64::saturating_add)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::CATALOGUE;

    #[test]
    fn as_many_findings_as_wanted_are_kept() {
        let rooms = |keep: Keep| [0, 1, 2, 3].map(|kept| keep.has_room(kept));
        assert_eq!(rooms(Keep::First(0)), [false; 4]);
        assert_eq!(rooms(Keep::First(2)), [true, true, false, false]);
        assert_eq!(rooms(Keep::All), [true; 4]);
    }

    #[test]
    fn findings_are_counted_by_severity() {
        let rule = |severity| CATALOGUE.iter().copied().find(|rule| rule.severity == severity);
        let rules = [Severity::Lint, Severity::Warning, Severity::Error].map(rule);
        let [Some(lint), Some(warning), Some(error)] = rules else { panic!("each exists") };
        let report = |counts| Report { counts, ..Report::default() };
        let all = report(alloc::vec![(lint, 3), (error, 4), (warning, 5), (error, 6)]);
        assert_eq!(all.count(Severity::Lint), 3);
        assert_eq!(all.count(Severity::Warning), 5);
        assert_eq!(all.count(Severity::Error), 10);
        assert_eq!(all.worst(), Some(Severity::Error));
        assert_eq!(report(alloc::vec![(warning, 1), (lint, 1)]).worst(), Some(Severity::Warning));
        assert_eq!((report(Vec::new()).worst(), Report::default().covered_bytes()), (None, 0));
    }
}
