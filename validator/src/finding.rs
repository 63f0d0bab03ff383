//! What a check reports: findings, how often each rule was broken, and what could not be decided.

pub(crate) mod reporter;

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use crate::abi::{Abi, Endian};
use crate::page::{Rule, Severity};
use crate::section::{CodeAddress, Flags, FunctionEntry, Section, Version};

/// A rule that is broken at a place.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The rule.
    pub rule: &'static Rule,
    /// Position in [`Report::sections`] of the section it is about; `None` for the file itself.
    pub section: Option<usize>,
    /// Bytes from the start of the section, `None` where the place is not in the section's bytes.
    pub offset: Option<u64>,
    /// The section's bytes that show the defect: a header field, a table entry, a row. Section
    /// offsets, inside the section; empty where no bytes of it are to blame.
    pub bytes: Range<u64>,
    /// The field and its value.
    pub field: Option<Field>,
    /// The function, where one is concerned.
    pub function: Option<FunctionId>,
    /// The number of the row in its function, from 0.
    pub row: Option<u32>,
    /// The code that the finding is about, where that is narrower than the function, or no SFrame
    /// function has it: the first PC, and the first one behind, in the same section.
    pub code: Option<(CodeAddress, u64)>,
    /// The fact, then the rule, in one sentence without a full stop.
    pub message: String,
}

/// A field that holds a value it must not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The specification's name: of SFrame's own fields, or ELF's (`sh_type`, `p_filesz`).
    pub name: &'static str,
    /// The value, as people write it.
    pub value: String,
    /// The values that would be right.
    pub allowed: String,
}

/// The function a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FunctionId {
    /// Its place in the table, from 0.
    pub index: u32,
    /// Where it starts, `None` where that cannot be known.
    pub start: Option<CodeAddress>,
    /// Bytes of code.
    pub size: u32,
}

impl FunctionId {
    pub(crate) fn of(entry: &FunctionEntry<'_>) -> FunctionId {
        FunctionId { index: entry.index(), start: entry.start().ok(), size: entry.size() }
    }
}

/// Something that was not checked, and why. Never to be counted as clean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undecided {
    /// Position in [`Report::sections`]; `None` for the file itself.
    pub section: Option<usize>,
    /// What was not checked, and why, in one sentence without a full stop.
    pub reason: String,
}

/// One checked section.
#[derive(Clone, Debug)]
pub struct SectionSummary {
    /// Index in the ELF section header table, `None` for bare bytes.
    pub index: Option<u32>,
    /// The section's name.
    pub name: String,
    /// Its address.
    pub address: u64,
    /// Offset of its first byte in the file.
    pub file_offset: u64,
    /// Bytes.
    pub size: u64,
    /// What its header says, `None` where the header cannot be read.
    pub header: Option<HeaderSummary>,
    /// The header could be read and says for certain where and how functions and rows are stored:
    /// they were looked at. Where it is `false` nothing should be made of what
    /// [`Section`] reads as functions and rows.
    pub certain_layout: bool,
    /// Functions that were read.
    pub functions: u64,
    /// Rows that were read.
    pub rows: u64,
    /// Bytes of code that its functions describe, each byte counted once.
    pub covered_bytes: u64,
}

/// The part of the header that scans are summed up by.
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
    /// The fixed offsets from the CFA of FP and RA; 0: not fixed.
    pub fixed_offsets: (i8, i8),
}

impl HeaderSummary {
    pub(crate) fn of(section: &Section<'_>) -> HeaderSummary {
        let header = section.header();
        HeaderSummary {
            version: header.version,
            flags: header.flags,
            abi: section.abi().ok(),
            endian: section.endian(),
            fixed_offsets: (header.cfa_fixed_fp_offset, header.cfa_fixed_ra_offset),
        }
    }
}

/// How many findings of each rule a check keeps. It counts all of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Keep {
    /// The first ones, at most so many.
    First(usize),
    /// Every one: memory grows with their number.
    All,
}

impl Keep {
    /// Whether there is room for one more beside `kept`.
    #[must_use]
    pub fn has_room(self, kept: u64) -> bool {
        match self {
            Keep::First(most) => usize::try_from(kept).is_ok_and(|kept| kept < most),
            Keep::All => true,
        }
    }
}

/// All that a check found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The findings that were kept: of each rule the first ones, see
    /// [`Options::keep`](crate::check::Options::keep). In the order of the section's bytes.
    pub findings: Vec<Finding>,
    /// How often each rule was broken, kept or not, in the catalogue's order.
    pub counts: Vec<(&'static Rule, u64)>,
    /// What was not checked.
    pub undecided: Vec<Undecided>,
    /// The sections.
    pub sections: Vec<SectionSummary>,
    /// Bytes of the file's machine code: of its loaded, executable sections whose bytes it has.
    pub code_bytes: u64,
}

impl Report {
    /// The severest finding's severity.
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

    /// Bytes of code that the file's sections describe.
    #[must_use]
    pub fn covered_bytes(&self) -> u64 {
        let covered = self.sections.iter().map(|section| section.covered_bytes);
        covered.fold(0, u64::saturating_add)
    }
}
