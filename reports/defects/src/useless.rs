//! Sections of which known defects leave almost nothing to their readers.

use sframe_oracle::rules::USELESS_SECTION;
use sframe_record::numbers::{counted, grouped, percent};
use sframe_record::{Consequence, Finding, Record, Severity, Weight};

use crate::defect::Defect;
use crate::evidence::Evidence;

/// A section is useless if readers find the right row for at most this share of the code that it describes.
const LEAST: u64 = 5;
/// The defect of sections whose starts were not adjusted.
const STARTS: &str = "starts-not-adjusted";

/// What a reader that follows the specification finds in the sections of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Whether it can open each of them.
    pub is_open: bool,
    /// The bytes of code that their functions describe, also those of functions that it does not find.
    pub described: u64,
    /// The bytes of code for which it finds CFI's row.
    pub right: u64,
    /// The bytes of code for which it finds a row and nothing shows whether that is right.
    pub unproven: u64,
}

impl Evidence {
    /// The finding that known defects make the sections of a file useless, if they do. The findings of `record` were
    /// recognised. `found` looks at the file.
    #[must_use]
    pub fn useless(
        &self,
        record: &Record<'_>,
        found: impl FnOnce() -> Found,
    ) -> Option<Finding<'static>> {
        let defects = self.spoilers(record);
        let first = *defects.first()?;
        let found = found();
        // Where no function starts where the section says, a row is right by chance alone.
        let right = match &self.unadjusted {
            Some(unadjusted) => unadjusted.right_as_stated(),
            None if has_unknown_rows(record) => return None,
            None => found.right.saturating_add(found.unproven),
        };
        if found.is_open && !is_little(right, found.described) {
            return None;
        }
        let why: Vec<String> = defects.iter().map(|defect| named(defect)).collect();
        let message = format!("{}: {}", sentence(record, found, right), why.join("; "));
        let severity = Severity::from(USELESS_SECTION.severity);
        let (rule, group) = (USELESS_SECTION.name.into(), USELESS_SECTION.group.name());
        let mut remedies: Vec<&str> = defects.iter().map(|defect| defect.workaround).collect();
        remedies.dedup();
        let finding = Finding::about_file(rule, severity, group, message);
        Some(Finding {
            owner: first.owner,
            consequence: Some(Box::new(Consequence { weight: Weight::Useless, pcs: None })),
            remedy: Some(remedies.join("; ").into()),
            section: (record.sections.len() == 1).then_some(0),
            ..finding
        })
    }

    /// The known defects that spoil rows of the file, the worst ones first.
    fn spoilers(&self, record: &Record<'_>) -> Vec<&'static Defect> {
        let is_found = |id: &str| {
            let is_case = |known: &str| known == id;
            let mut counts = record.counts.iter();
            (id == STARTS && self.unadjusted.is_some())
                || counts.any(|count| count.known.as_deref().is_some_and(is_case))
        };
        let mut defects: Vec<&Defect> = crate::all()
            .filter(|defect| defect.weight != Weight::Harmless && is_found(defect.id))
            .collect();
        defects.sort_by_key(|defect| std::cmp::Reverse(defect.weight));
        defects
    }
}

/// Whether rows are wrong, and no known defect is the reason: an error of its own says so.
fn has_unknown_rows(record: &Record<'_>) -> bool {
    let is_unknown = |rule: &str| crate::recognise::is_of_rows(rule);
    record.counts.iter().any(|count| count.known.is_none() && is_unknown(&count.rule))
}

fn is_little(right: u64, described: u64) -> bool {
    described > 0 && right.saturating_mul(100) <= described.saturating_mul(LEAST)
}

fn sentence(record: &Record<'_>, found: Found, right: u64) -> String {
    let linker = record.producers.iter().find(|producer| producer.is_linker());
    let linked = linker.map(|of| {
        let version = of.version.as_ref().map(|version| format!(" {version}"));
        format!("linked by {}{}", of.name, version.unwrap_or_default())
    });
    let described = counted(found.described, "byte");
    let (text, code) = match (found.is_open, right) {
        (false, _) => ("no reader can open the section".to_owned(), None),
        (true, 0) => {
            let text = "no reader finds one right row in the section".to_owned();
            (text, Some(format!("{described} of code")))
        }
        (true, right) => {
            let share = percent(right, found.described);
            let text = format!("readers find a right row for only {share} of the section's code");
            (text, Some(format!("{} of {described}", grouped(right))))
        }
    };
    let details: Vec<String> = code.into_iter().chain(linked).collect();
    match details.is_empty() {
        true => text,
        false => format!("{text} ({})", details.join(", ")),
    }
}

/// `start addresses are too low (starts-not-adjusted, GNU as 2.40 to 2.44, lld 23)`.
fn named(defect: &Defect) -> String {
    format!("{} ({}, {})", defect.title, defect.id, defect.affected())
}
