//! What is still wrong with a section after it was repaired or made: rows that contradict CFI, and rules that it breaks.

use std::fmt;

use sframe_oracle::cfi::{Cfi, CfiSource};
use sframe_oracle::compare::{Verdict, compare};
use sframe_validator::Section;
use sframe_validator::check::Checker;
use sframe_validator::elf::Elf;
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
            Remaining::Contradicts { bytes, places, first } => write!(
                f,
                "contradicts CFI at {} of code in {}, the first at {}",
                Counted(bytes, "byte"),
                Counted(places, "place"),
                At(*first)
            ),
            Remaining::Breaks { rule, findings: 1, message } => write!(f, "{rule}: {message}"),
            Remaining::Breaks { rule, findings, message } => {
                write!(f, "{rule}, {}, the first: {message}", Counted(findings, "finding"))
            }
        }
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

/// The same, with the CFI.
pub(crate) fn of(elf: &Elf<'_>, cfi: &[Cfi<'_>]) -> Result<Vec<Remaining>, RepairError> {
    let mut remaining: Vec<Remaining> = contradictions(elf, cfi)?.into_iter().collect();
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

fn contradictions(elf: &Elf<'_>, cfi: &[Cfi<'_>]) -> Result<Option<Remaining>, RepairError> {
    let contents: Vec<_> = elf.sframe_contents().collect();
    let mut sections = Vec::new();
    for sframe in &contents {
        let (placement, data) = (sframe.placement()?.with_abi(elf.abi()), sframe.data?);
        if !data.is_empty() {
            let unreadable = |_| RepairError::UnreadableHeader { offset: 0 };
            sections.push(Section::parse(data, placement).map_err(unreadable)?);
        }
    }
    let (mut places, mut first) = (0_u64, None);
    let sums = compare(elf, &sections, cfi, |range| {
        if matches!(range.verdict, Verdict::Different(_)) {
            places = places.saturating_add(1);
            first.get_or_insert(CodeAddress { section: range.section, address: range.start });
        }
    });
    let bytes = sums.bytes.different;
    Ok(first.map(|first| Remaining::Contradicts { bytes, places, first }))
}
