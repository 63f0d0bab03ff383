//! Findings that are new, fixed or changed.

use serde::Serialize;

use sframe_record::{PrintedFrame, Severity, Side, UnwindTable};

/// What happened to a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Only the new scan has it.
    New,
    /// Both scans have it, but its content differs: other values, or more or fewer functions.
    Changed,
    /// Only the old scan has it, and the new scan has its file and section.
    Fixed,
}

/// A finding that is new, fixed or changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FindingChange {
    /// What happened to it.
    pub change: Change,
    /// The rule's name.
    pub rule: String,
    /// How serious a violation is.
    pub severity: Severity,
    /// Its place and content in the old scan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Place>,
    /// Its place and content in the new scan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<Place>,
    /// The rows of both tables: of one scan if the difference is new or fixed, merged from both scans if it changed.
    pub table: Vec<TableLine>,
}

impl FindingChange {
    /// The place in the new scan, or in the old scan if it is fixed.
    #[must_use]
    pub fn place(&self) -> Option<&Place> {
        self.new.as_ref().or(self.old.as_ref())
    }
}

/// A finding in one scan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Place {
    /// The observed fact, then the rule.
    pub message: String,
    /// The symbol of its function or code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// The symbol's name in hexadecimal, if it is not valid UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol_hex: Option<String>,
    /// The SFrame section's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// The first PC as `0x...`, or the start of the function if there is no PC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Offset in bytes of the first PC from the start of the function.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// The number of the row in its function, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<u32>,
    /// The field and its value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// What SFrame and the code were compared with, if the finding is a difference of rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compared_with: Option<UnwindTable>,
    /// The number of functions that it represents: functions with the same pattern are one finding, reported at the
    /// first. 0 for further ranges of a function, if each range is listed.
    pub functions: u64,
}

/// Which of two scans has a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RowScan {
    /// Both scans, with equal values.
    Both,
    /// Only the old one.
    Old,
    /// Only the new one.
    New,
}

impl RowScan {
    /// The mark in a merged table.
    pub(super) const fn mark(self) -> char {
        match self {
            RowScan::Both => ' ',
            RowScan::Old => '<',
            RowScan::New => '>',
        }
    }
}

/// A row of the tables.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TableLine {
    /// Which scan contains the row.
    pub scan: RowScan,
    /// Which table contains it.
    pub side: Side,
    /// The offset in bytes of the first PC from the start of the function, as `0x...`; the PC itself if the start is
    /// unknown.
    pub start: String,
    /// How the frame is recovered.
    #[serde(flatten)]
    pub frame: PrintedFrame<String>,
}

/// The change of a rule's count in a file, if the listed findings do not explain it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CountChange {
    /// The rule's name.
    pub rule: String,
    /// How serious a violation is.
    pub severity: Severity,
    /// The count in the old scan.
    pub old: u64,
    /// The count in the new scan.
    pub new: u64,
    /// Listed findings of the old scan that may or may not be in the new scan.
    pub undecided_old: u64,
    /// Listed findings of the new scan that may or may not be in the old scan.
    pub undecided_new: u64,
}
