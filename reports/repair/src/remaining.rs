//! What is still wrong with a section after it was repaired or made: rows that contradict CFI, and rules that it breaks.

use std::collections::BTreeMap;
use std::fmt;

use sframe_defects::RowDefects;
use sframe_oracle::account::{self, account_each};
use sframe_oracle::cfi::{Cfi, CfiSource};
use sframe_validator::Section;
use sframe_validator::check::Checker;
use sframe_validator::elf::Elf;
use sframe_validator::finding::Keep;
use sframe_validator::page::Severity;
use sframe_validator::unwind::CodeAddress;

use crate::change::{At, Counted};
use crate::error::RepairError;

/// A defect of a section that a repair does not mend.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remaining {
    /// SFrame and CFI differ. Nothing in the section says which is right.
    Contradicts {
        /// Bytes of code.
        bytes: u64,
        /// Ranges of code.
        places: u64,
        /// The first of them.
        first: CodeAddress,
        /// The known defect of which all of them are cases, if the rows are those that a producer writes by mistake.
        known: Option<&'static str>,
    },
    /// The section breaks a rule that is an error.
    Breaks {
        /// The name of the rule.
        rule: &'static str,
        /// The number of findings.
        findings: u64,
        /// The message of the first one.
        message: String,
    },
}

impl fmt::Display for Remaining {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Remaining::Contradicts { bytes, places, first, known } => {
                let known = known.map(|defect| format!("{defect}: ")).unwrap_or_default();
                write!(
                    f,
                    "{known}contradicts CFI at {} of code in {}, the first at {}",
                    Counted(bytes, "byte"),
                    Counted(places, "place"),
                    At(*first)
                )
            }
            Remaining::Breaks { rule, findings: 1, message } => write!(f, "{rule}: {message}"),
            Remaining::Breaks { rule, findings, message } => {
                write!(f, "{rule}, {}, the first: {message}", Counted(findings, "finding"))
            }
        }
    }
}

impl Remaining {
    /// Whether it is a case of a known defect, which this file did not cause.
    #[must_use]
    pub const fn is_known(&self) -> bool {
        matches!(self, Remaining::Contradicts { known: Some(_), .. })
    }
}

/// What is wrong with the SFrame sections of a file.
///
/// # Errors
/// Returns a [`RepairError`] if the file, its CFI, or its SFrame sections cannot be read.
pub fn remaining(file: &[u8]) -> Result<Vec<Remaining>, RepairError> {
    let elf = Elf::parse(file)?;
    let source = CfiSource::of(&elf);
    of(&elf, &source.load_all()?)
}

/// What is wrong with the SFrame sections of a file with this CFI.
pub(crate) fn of(elf: &Elf<'_>, cfi: &[Cfi<'_>]) -> Result<Vec<Remaining>, RepairError> {
    let mut remaining = contradictions(elf, cfi)?;
    let report = Checker::default().elf(elf);
    for (rule, count) in &report.counts {
        let first = report.findings.iter().find(|finding| finding.rule.name == rule.name);
        if let Some(first) = first.filter(|_| rule.severity == Severity::Error) {
            let message = first.message.clone();
            remaining.push(Remaining::Breaks { rule: rule.name, findings: *count, message });
        }
    }
    Ok(remaining)
}

/// Where SFrame and CFI differ: first what has no known cause, then each known defect.
fn contradictions(elf: &Elf<'_>, cfi: &[Cfi<'_>]) -> Result<Vec<Remaining>, RepairError> {
    let contents: Vec<_> = elf.sframe_contents().collect();
    let mut sections = Vec::new();
    for sframe in &contents {
        let (placement, data) = (sframe.placement()?.with_abi(elf.abi()), sframe.data?);
        if !data.is_empty() {
            let unreadable = |_| RepairError::UnreadableHeader { offset: 0 };
            sections.push(Section::parse(data, placement).map_err(unreadable)?);
        }
    }
    let mut found: BTreeMap<Option<&'static str>, Differing> = BTreeMap::new();
    let options = account::Options { keep: Keep::All, ..account::Options::default() };
    let mut defects = RowDefects::new(elf, &sections, cfi, |_| Vec::new());
    account_each(elf, &sections, cfi, &options, &mut defects, &mut |difference| {
        let place = CodeAddress { address: difference.whole.0, ..difference.start };
        let first = Differing { bytes: 0, places: 0, first: difference.start, last: None };
        let of = found.entry(difference.known).or_insert(first);
        of.bytes = of.bytes.saturating_add(difference.end.saturating_sub(difference.start.address));
        // A range may be listed in parts.
        if of.last.replace(place) != Some(place) {
            of.places = of.places.saturating_add(1);
        }
    });
    let remaining = found.into_iter().map(|(known, Differing { bytes, places, first, .. })| {
        Remaining::Contradicts { bytes, places, first, known }
    });
    Ok(remaining.collect())
}

/// Differences that are cases of one known defect, or of none.
struct Differing {
    bytes: u64,
    places: u64,
    first: CodeAddress,
    /// The start of the last range.
    last: Option<CodeAddress>,
}
