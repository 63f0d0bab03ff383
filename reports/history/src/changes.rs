//! What changed from one scan to the next: the model that all renderers read, and the JSON format.
//!
//! *Worse* is what a nightly run has to stop at: a new finding of severity error, a rule of
//! severity error broken more often in a file, a file that can no longer be read or has lost its
//! section, and functions that have lost their stack-trace entries. What the records do not tell is
//! undecided, never new nor fixed.
//!
//! Addresses are strings, as in the report's formats.

mod coverage;
mod file;
mod finding;
mod json;
mod markdown;
mod text;
mod told;

pub use coverage::{
    CauseChange, CoverageChange, CoverageVerdict, Described, PackageChange, UndescribedFunction,
};
pub use file::{Became, FileChange, FileName, Matched};
pub use finding::{Change, CountChange, FindingChange, Place, TableLine};
pub use json::{schema, write as write_json};
pub use markdown::write as write_markdown;
pub use text::write as write_text;

use schemars::JsonSchema;
use serde::Serialize;

use sframe_record::Severity;

/// The version of the JSON format. Fields may be added within a version; a reader skips what it
/// does not know.
pub const FORMAT: u32 = 1;

/// How much the renderers for people show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How many changes are shown in full; all of them are counted.
    pub details: usize,
}

impl Default for Options {
    /// The first 20 changes.
    fn default() -> Options {
        Options { details: 20 }
    }
}

/// Everything that changed between two scans.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(title = "sframe-check compare")]
pub struct Changes {
    /// Version of this format: 1.
    pub format: u32,
    /// The first scan.
    pub old: Scan,
    /// The second scan.
    pub new: Scan,
    /// Something got worse.
    pub worse: bool,
    /// The changes in numbers.
    pub summary: Summary,
    /// Rules that are not broken as often as before, or elsewhere; worst first.
    pub rules: Vec<RuleChange>,
    /// Files in which something changed; worst first.
    pub files: Vec<FileChange>,
    /// Packages with files whose coverage changed; worst first.
    pub packages: Vec<PackageChange>,
    /// What other programs the files come from.
    pub producers: Vec<ProducerChange>,
    /// What the two scans do not tell as a whole, and why.
    pub undecided: Vec<String>,
}

impl Changes {
    /// Nothing changed, and everything could be decided.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
            && self.files.is_empty()
            && self.packages.is_empty()
            && self.producers.is_empty()
            && self.undecided.is_empty()
    }
}

/// One of the two scans.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Scan {
    /// What it is called: the path of its store or report.
    pub name: String,
    /// The version of the program that made it, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// It ended: a file that it does not have was not there.
    pub complete: bool,
    /// How many files and members it has records of.
    pub files: u64,
}

impl Scan {
    /// A scan that ended.
    #[must_use]
    pub fn complete(name: &str) -> Scan {
        Scan { name: name.to_owned(), tool: None, complete: true, files: 0 }
    }
}

/// The changes in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Summary {
    /// Files of both scans.
    pub matched: u64,
    /// Of these, those of other names or versions.
    pub renamed: u64,
    /// Files of the new scan alone.
    pub came: u64,
    /// Files of the old scan alone.
    pub gone: u64,
    /// Files of one scan alone, of which it is not known whether they came or went.
    pub unmatched: u64,
    /// Files that can no longer be read.
    pub unreadable: u64,
    /// Files that can be read again.
    pub readable: u64,
    /// Findings of the new scan alone.
    pub new: SeverityCounts,
    /// Findings of the old scan alone.
    pub fixed: SeverityCounts,
    /// Findings that say something else.
    pub changed: SeverityCounts,
    /// Listed findings of which it is not known whether the other scan has them.
    pub undecided: u64,
    /// Files with functions that have lost their entries.
    pub coverage_lost: u64,
    /// Files with functions that have got entries.
    pub coverage_gained: u64,
    /// Code that was compared in both scans, in the old one.
    pub described_old: Described,
    /// The same in the new one.
    pub described_new: Described,
}

/// Findings by severity. A difference that stands for others counts for each function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct SeverityCounts {
    /// Of severity error.
    pub errors: u64,
    /// Of severity warning.
    pub warnings: u64,
    /// Of severity lint.
    pub lints: u64,
}

impl SeverityCounts {
    /// Counts `findings` more.
    pub(crate) fn add(&mut self, severity: Severity, findings: u64) {
        let count = match severity {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
            Severity::Lint => &mut self.lints,
        };
        *count = count.saturating_add(findings);
    }

    /// Of all severities.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.errors.saturating_add(self.warnings).saturating_add(self.lints)
    }
}

/// A rule, in all files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct RuleChange {
    /// The rule's name.
    pub rule: String,
    /// How bad it is to break it.
    pub severity: Severity,
    /// How often it was broken in the old scan.
    pub old: u64,
    /// How often in the new one.
    pub new: u64,
    /// Findings of the new scan alone.
    pub appeared: u64,
    /// Findings of the old scan alone.
    pub fixed: u64,
    /// Findings that say something else.
    pub changed: u64,
    /// In how many files something changed.
    pub files: u64,
}

/// Files that were made by some programs, and are now made by others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct ProducerChange {
    /// `compiler`, `assembler`, `linker` or `other`.
    pub kind: String,
    /// Names and versions in the old scan; empty where there were none.
    pub old: Vec<String>,
    /// Names and versions in the new one.
    pub new: Vec<String>,
    /// How many files.
    pub files: u64,
    /// The first of them by name.
    pub examples: Vec<String>,
}
