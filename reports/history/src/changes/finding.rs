//! Findings that are new, fixed or changed.

use schemars::JsonSchema;
use serde::Serialize;

use sframe_record::{Severity, Side};

/// What became of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Only the new scan has it.
    New,
    /// Both have it, and it says something else: other values, or more or fewer functions.
    Changed,
    /// Only the old scan has it; where its file or section is gone, it went with that.
    Fixed,
}

/// A finding that is new, fixed or changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FindingChange {
    /// What became of it.
    pub change: Change,
    /// The rule's name.
    pub rule: String,
    /// How bad it is to break it.
    pub severity: Severity,
    /// Where it is in the old scan, and what it says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub old: Option<Place>,
    /// Where it is in the new one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<Place>,
    /// The tables of rows: of a new or fixed difference as that scan shows them, of a changed one
    /// those of both scans laid over each other.
    pub table: Vec<TableLine>,
}

impl FindingChange {
    /// The place in the new scan, or in the old one where it is fixed.
    #[must_use]
    pub fn place(&self) -> Option<&Place> {
        self.new.as_ref().or(self.old.as_ref())
    }
}

/// A finding in one scan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Place {
    /// The fact, then the rule.
    pub message: String,
    /// The symbol of its function or code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol: Option<String>,
    /// The symbol's name in hexadecimal, where it is not valid UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symbol_hex: Option<String>,
    /// The SFrame section's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub section: Option<String>,
    /// The first PC, `0x...`, or the function's where there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Bytes from the function's start to the first PC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// The row's number in its function, from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub row: Option<u32>,
    /// The field, and its value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// For how many functions it stands: those of the same pattern are one finding, at the first. 0
    /// for a further range of a function where each range is listed.
    pub functions: u64,
}

/// A line of the tables.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TableLine {
    /// Which scan has the line: `both`, `old` or `new`.
    pub scan: &'static str,
    /// Who says it.
    pub side: Side,
    /// The first PC in bytes from the function's start, `0x...`; where the function's start is not
    /// known, the PC itself.
    pub start: String,
    /// The canonical frame address.
    pub cfa: String,
    /// The return address.
    pub ra: String,
    /// The caller's frame pointer.
    pub fp: String,
    /// The return address is signed.
    pub ra_signed: bool,
}

/// How often a rule is broken in a file, where the listed findings do not tell what changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct CountChange {
    /// The rule's name.
    pub rule: String,
    /// How bad it is to break it.
    pub severity: Severity,
    /// How often in the old scan.
    pub old: u64,
    /// How often in the new one.
    pub new: u64,
    /// Listed findings of the old scan of which it is not known whether the new one has them.
    pub undecided_old: u64,
    /// Listed findings of the new scan of which it is not known whether the old one had them.
    pub undecided_new: u64,
}
