//! The changes between two scans: the model that all renderers use, and the JSON format.
//!
//! *Worse* is what should stop a nightly run: a new finding of severity error, a rule of severity error broken more
//! often in a file, a file that can no longer be read or has lost its section, functions that have lost their
//! stack-trace entries, and a package whose share of code with entries fell. Findings of a file that is missing are
//! not fixed: they are counted as missing, by package. Changes that cannot be decided from the records are undecided, neither new nor fixed.
//!
//! Addresses are strings, as in the formats of reports.

mod coverage;
mod file;
mod finding;
mod json;
mod markdown;
mod missing;
pub mod phrases;
mod sections;
mod text;

pub use coverage::{
    CauseChange, CoverageChange, CoverageVerdict, Described, PackageChange, Share,
    UndescribedFunction,
};
pub use file::{Became, FileChange, FileName, Matched};
pub use finding::{Change, CountChange, FindingChange, Place, RowScan, TableLine};
#[cfg(feature = "schema")]
pub use json::schema;
pub use json::write as write_json;
pub use markdown::write as write_markdown;
pub use missing::MissingFiles;
pub use sections::SectionChange;
pub use text::write as write_text;

use std::collections::HashSet;

use serde::Serialize;

use sframe_record::Severity;

/// The version of the JSON format. New fields may be added within a version; readers ignore fields that they do not
/// know.
pub const FORMAT: u32 = 1;

/// How much detail the text and Markdown renderers show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// The number of findings shown in full; all of them are counted.
    pub details: usize,
}

impl Default for Options {
    /// Shows the first 20 findings.
    fn default() -> Options {
        Options { details: 20 }
    }
}

/// Everything that changed between two scans.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(title = "sframe-check compare"))]
pub struct Changes {
    /// Version of this format: 1.
    pub format: u32,
    /// The first scan.
    pub old: Scan,
    /// The second scan.
    pub new: Scan,
    /// Whether something got worse.
    pub worse: bool,
    /// The counts of changes.
    pub summary: Summary,
    /// Rules whose findings changed; most serious first.
    pub rules: Vec<RuleChange>,
    /// Files with changes; worst first.
    pub files: Vec<FileChange>,
    /// The number of further files with changes: 50,000 are listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more_files: u64,
    /// Whether a change of some file, listed or not, cannot be decided.
    #[serde(skip)]
    pub has_undecided_files: bool,
    /// Files that the new scan does not have, by package; most files first, and those in no package last.
    pub missing: Vec<MissingFiles>,
    /// Packages with files whose coverage changed, and those whose share of code with entries fell; worst first.
    pub packages: Vec<PackageChange>,
    /// Changes of the format and the size of sections; those of most files first.
    pub sections: Vec<SectionChange>,
    /// Changes of the programs that produced the files.
    pub producers: Vec<ProducerChange>,
    /// Changes that cannot be decided for the scans as a whole, and why.
    pub undecided: Vec<String>,
}

impl Changes {
    /// Whether every change could be decided, of the scans, of their files and of their findings.
    #[must_use]
    pub fn is_decided(&self) -> bool {
        self.undecided.is_empty()
            && self.summary.undecided == 0
            && self.summary.unmatched == 0
            && !self.has_undecided_files
    }

    /// The files to be listed: those of packages that are missing as a whole are counted.
    pub(crate) fn listed(&self) -> impl Iterator<Item = &FileChange> {
        let whole = self.missing.iter().filter(|missing| missing.is_whole_package());
        let whole: HashSet<&String> = whole.filter_map(|of| of.package.as_ref()).collect();
        let is_of_whole =
            move |file: &FileChange| missing::package_of(file).is_some_and(|of| whole.contains(of));
        self.files.iter().filter(move |file| !is_of_whole(file))
    }

    /// Whether nothing changed and everything could be decided.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
            && self.files.is_empty()
            && self.packages.is_empty()
            && self.sections.is_empty()
            && self.producers.is_empty()
            && self.undecided.is_empty()
    }
}

/// One of the two scans.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Scan {
    /// Its name: the path of the store or report.
    pub name: String,
    /// The version of the program that made it, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Whether the scan is complete: then a file missing from it did not exist.
    pub complete: bool,
    /// Whether the scan is incomplete only because parts of its store were damaged afterwards.
    #[serde(skip)]
    pub damaged: bool,
    /// The number of files and members with records.
    pub files: u64,
    /// The number of further files, beyond the maximum, which were not compared.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub files_left: u64,
}

impl Scan {
    /// A complete scan with this name.
    #[must_use]
    pub fn complete(name: &str) -> Scan {
        Scan { name: name.to_owned(), complete: true, ..Scan::default() }
    }
}

/// The counts of changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary {
    /// Files in both scans.
    pub matched: u64,
    /// The files in both scans whose name or version differs.
    pub renamed: u64,
    /// Files only in the new scan.
    pub came: u64,
    /// Files only in the old scan.
    pub gone: u64,
    /// Files in only one scan that may or may not have been added or removed.
    pub unmatched: u64,
    /// Files that can no longer be read.
    pub unreadable: u64,
    /// Files that could not be read in the old scan and can be read now.
    pub readable: u64,
    /// Findings only in the new scan.
    pub new: SeverityCounts,
    /// Findings only in the old scan, in files that the new scan has.
    pub fixed: SeverityCounts,
    /// Findings in files, or in sections, that the new scan does not have.
    pub missing: SeverityCounts,
    /// Findings in both scans whose content differs.
    pub changed: SeverityCounts,
    /// Listed findings that may or may not be in the other scan.
    pub undecided: u64,
    /// Files with functions that have lost their entries.
    pub coverage_lost: u64,
    /// Files with functions that have gained entries.
    pub coverage_gained: u64,
    /// The description of code compared in both scans, in the old scan.
    pub described_old: Described,
    /// The description of code compared in both scans, in the new scan.
    pub described_new: Described,
}

/// Findings by severity. A difference that represents several functions counts for each of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SeverityCounts {
    /// Findings of severity error.
    pub errors: u64,
    /// Findings of severity warning.
    pub warnings: u64,
    /// Findings of severity lint.
    pub lints: u64,
}

impl SeverityCounts {
    /// Adds `findings` to the count of a severity.
    pub(crate) fn add(&mut self, severity: Severity, findings: u64) {
        let count = match severity {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
            Severity::Lint => &mut self.lints,
        };
        *count = count.saturating_add(findings);
    }

    /// The sum over all severities.
    #[must_use]
    pub fn all(&self) -> u64 {
        self.errors.saturating_add(self.warnings).saturating_add(self.lints)
    }
}

/// The change of a rule's findings over all files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RuleChange {
    /// The rule's name.
    pub rule: String,
    /// How serious a violation is.
    pub severity: Severity,
    /// How often it was broken in the old scan.
    pub old: u64,
    /// How often it is broken in the new scan.
    pub new: u64,
    /// Findings only in the new scan.
    pub appeared: u64,
    /// Findings only in the old scan, in files that the new scan has.
    pub fixed: u64,
    /// Findings in files, or in sections, that the new scan does not have.
    pub missing: u64,
    /// Findings in both scans whose content differs.
    pub changed: u64,
    /// The number of files with changes.
    pub files: u64,
}

/// Files that other programs produced than before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProducerChange {
    /// `compiler`, `assembler`, `linker` or `other`.
    pub kind: String,
    /// Names and versions in the old scan; may be empty.
    pub old: Vec<String>,
    /// Names and versions in the new scan.
    pub new: Vec<String>,
    /// The number of files.
    pub files: u64,
    /// The first few files by name.
    pub examples: Vec<String>,
}

/// Whether a count is left out.
#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}
