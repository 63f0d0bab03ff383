//! A scan in numbers.

use std::collections::BTreeMap;

use sframe_validator::rules::{Rule, Severity};

use super::coverage::CoverageTotals;
use super::file::{Checked, FileReport, Outcome};
use crate::catalogue;
use sframe_input::Special;

/// How often a rule was broken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Findings.
    pub findings: u64,
    /// Files with such a finding.
    pub files: u64,
}

/// The sum of all reports of a scan.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Files, archive members counted one by one, and everything else that was met.
    pub inputs: u64,
    /// ELF files and bare sections that were checked.
    pub checked: u64,
    /// Those of them that have an SFrame section.
    pub with_section: u64,
    /// ELF files of kinds that SFrame is not defined for, by kind.
    pub unsupported: BTreeMap<String, u64>,
    /// Files that are no ELF files; empty ones are among them.
    pub not_elf: u64,
    /// What is not a regular file, by kind.
    pub special: BTreeMap<Special, u64>,
    /// What could not be read.
    pub unreadable: u64,
    /// Files at which their checker has died.
    pub crashed: u64,
    /// Sections by version and machine; `unreadable` where the header is.
    pub sections: BTreeMap<(String, String), u64>,
    /// Functions that were read.
    pub functions: u64,
    /// Rows that were read.
    pub rows: u64,
    /// Bytes of executable code in all checked files.
    pub code_bytes: u64,
    /// Bytes of executable code in checked files with a section.
    pub code_bytes_with_section: u64,
    /// Bytes of code that functions describe.
    pub covered_bytes: u64,
    /// What SFrame and CFI describe of the code of files where that was looked at.
    pub coverage: CoverageTotals,
    /// What was not checked.
    pub undecided: u64,
    /// By rule, in the catalogue's order.
    pub(super) rules: BTreeMap<usize, (&'static Rule, Counts)>,
}

impl Summary {
    /// Adds one report.
    pub fn add(&mut self, report: &FileReport) {
        // An archive's members are inputs each by itself.
        self.inputs += u64::from(!matches!(report.outcome, Outcome::Members(_)));
        match &report.outcome {
            Outcome::Checked(checked) => self.add_checked(checked),
            Outcome::Members(checked) => self.add_counts(checked),
            Outcome::Unsupported(kind) => *self.unsupported.entry(kind.clone()).or_default() += 1,
            Outcome::NotElf | Outcome::Empty => self.not_elf += 1,
            Outcome::Special(kind) => *self.special.entry(*kind).or_default() += 1,
            Outcome::Unreadable(_) => self.unreadable += 1,
            Outcome::Crashed(_) => self.crashed += 1,
        }
    }

    fn add_checked(&mut self, checked: &Checked) {
        self.checked += 1;
        self.code_bytes = self.code_bytes.saturating_add(checked.code_bytes);
        self.undecided += checked.undecided.len() as u64;
        if !checked.sections.is_empty() {
            self.with_section += 1;
            self.code_bytes_with_section =
                self.code_bytes_with_section.saturating_add(checked.code_bytes);
        }
        if let Some(coverage) = &checked.coverage {
            self.coverage.add(coverage);
        }
        for section in &checked.sections {
            let key = match &section.header {
                Some(header) => {
                    let machine = header.abi.map_or("unknown ABI", |abi| abi.name());
                    (format!("V{}", header.version.number()), machine.to_owned())
                }
                None => ("unreadable header".to_owned(), String::new()),
            };
            *self.sections.entry(key).or_default() += 1;
            self.functions = self.functions.saturating_add(section.functions);
            self.rows = self.rows.saturating_add(section.rows);
            self.covered_bytes = self.covered_bytes.saturating_add(section.covered_bytes);
        }
        self.add_counts(checked);
    }

    fn add_counts(&mut self, checked: &Checked) {
        for (rule, count) in &checked.counts {
            let entry = self.rules.entry(catalogue::position(rule));
            let (_, counts) = entry.or_insert((rule, Counts::default()));
            counts.findings = counts.findings.saturating_add(*count);
            counts.files += 1;
        }
    }

    /// Every rule that was broken, in the catalogue's order.
    pub fn rules(&self) -> impl Iterator<Item = (&'static Rule, Counts)> + '_ {
        self.rules.values().copied()
    }

    /// How often rules of a severity were broken.
    #[must_use]
    pub fn findings(&self, severity: Severity) -> u64 {
        let of_severity = self.rules().filter(|(rule, _)| rule.severity == severity);
        of_severity.map(|(_, counts)| counts.findings).fold(0, u64::saturating_add)
    }

    /// The severest broken rule's severity.
    #[must_use]
    pub fn worst(&self) -> Option<Severity> {
        self.rules().map(|(rule, _)| rule.severity).max()
    }

    /// Whether something that was asked for is not known in the end: it could not be read, its
    /// checker died, the check left it undecided, or nothing at all was there to check.
    #[must_use]
    pub const fn is_incomplete(&self) -> bool {
        self.unreadable > 0 || self.crashed > 0 || self.undecided > 0 || self.checked == 0
    }
}
