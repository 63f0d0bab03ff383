//! The root causes of a scan, and which finding has which.

use std::collections::HashMap;

use serde::Serialize;
use sframe_history::Groups;
use sframe_history::groups::{RootCause, RootCauses};
use sframe_record::text::printable;
use sframe_record::{Finding, Owner, Record, Severity, Status, Wrong, demangle};

use crate::strings::shown;

/// The maximum number of root causes on a page.
const MOST: usize = 2_000;

/// The properties that findings with the same cause share.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Key {
    rule: String,
    severity: Severity,
    producers: Vec<String>,
    shape: String,
    instructions: Vec<String>,
    unlisted: bool,
    known: Option<String>,
    wrong: Option<Wrong>,
    owner: Owner,
    compiler: Option<String>,
}

impl Key {
    fn of(cause: &RootCause) -> Key {
        Key {
            rule: cause.rule.clone(),
            severity: cause.severity,
            producers: cause.producers.clone(),
            shape: cause.shape.clone(),
            instructions: cause.instructions.clone(),
            unlisted: cause.unlisted,
            known: cause.known.clone(),
            wrong: cause.wrong,
            owner: cause.owner,
            compiler: cause.compiler.clone(),
        }
    }
}

/// Collects root causes, and the cause of each listed finding.
#[derive(Debug, Default)]
pub(crate) struct Causes {
    groups: Groups,
    seen: HashMap<Key, u32>,
}

/// A root cause as the page shows it.
#[derive(Debug, Serialize)]
pub(crate) struct CauseRow {
    pub(crate) rule: String,
    pub(crate) severity: u8,
    producers: Vec<String>,
    shape: String,
    instructions: Vec<String>,
    unlisted: bool,
    findings: u64,
    functions: u64,
    files: u64,
    packages: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    known: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    examples: Vec<ExampleRow>,
}

/// A finding with the cause.
#[derive(Debug, Serialize)]
struct ExampleRow {
    file: String,
    symbol: String,
    address: String,
    message: String,
    /// Who is wrong, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    ruling: Option<String>,
}

/// All root causes, and how many are not on the page.
#[derive(Debug)]
pub(crate) struct Finished {
    pub(crate) rows: Vec<CauseRow>,
    pub(crate) left_out: u64,
    /// The position in `rows` of each number that [`Causes::of`] returned.
    places: Vec<Option<u32>>,
}

impl Finished {
    /// The position of a finding's cause in the rows, if it is on the page.
    pub(crate) fn place(&self, number: u32) -> Option<u32> {
        self.places.get(number as usize).copied().flatten()
    }
}

impl Causes {
    /// Adds a finding of the file that `end` ends.
    pub(crate) fn finding(&mut self, head: &Record<'_>, finding: &Finding<'_>) {
        self.groups.finding(head, finding);
    }

    /// Ends a file.
    pub(crate) fn end(&mut self, record: &Record<'_>) {
        self.groups.end(record);
    }

    /// A number for the cause of a finding in a file: the cause of a scan that has found nothing else.
    pub(crate) fn of(&mut self, record: &Record<'_>, finding: &Finding<'_>) -> Option<u32> {
        let mut groups = Groups::default();
        groups.add(&Record {
            producers: record.producers.clone(),
            table: record.table,
            findings: vec![finding.clone()],
            ..Record::new(Status::Checked)
        });
        let key = Key::of(groups.finish().causes.first()?);
        let next = u32::try_from(self.seen.len()).unwrap_or(u32::MAX);
        Some(*self.seen.entry(key).or_insert(next))
    }

    /// The causes, with the most serious ones first.
    pub(crate) fn finish(self) -> Finished {
        let RootCauses { causes, .. } = self.groups.finish();
        let shown = causes.iter().take(MOST);
        let known: HashMap<Key, u32> = shown.map(Key::of).zip(0..).collect();
        let mut places = vec![None; self.seen.len()];
        for (key, number) in &self.seen {
            if let Some(place) = places.get_mut(*number as usize) {
                *place = known.get(key).copied();
            }
        }
        let left_out = causes.len().saturating_sub(MOST) as u64;
        let rows = causes.into_iter().take(MOST).map(row).collect();
        Finished { rows, left_out, places }
    }
}

fn row(cause: RootCause) -> CauseRow {
    let owner = cause.owner_in_words().map(|owner| shown(&owner).0);
    let each = |texts: Vec<String>| texts.iter().map(|text| shown(text).0).collect();
    let or_empty = |text: Option<String>| text.map(|text| shown(&text).0).unwrap_or_default();
    let examples = cause.examples.into_iter().map(|example| ExampleRow {
        file: printable(example.file.to_string()),
        symbol: or_empty(example.symbol.map(|symbol| demangle(&symbol))),
        address: or_empty(example.address),
        message: shown(&example.message).0,
        ruling: example.ruling.map(|ruling| shown(&ruling).0),
    });
    CauseRow {
        rule: shown(&cause.rule).0,
        severity: cause.severity as u8,
        producers: each(cause.producers),
        shape: shown(&cause.shape).0,
        instructions: each(cause.instructions),
        unlisted: cause.unlisted,
        findings: cause.findings,
        functions: cause.functions,
        files: cause.files,
        packages: cause.packages,
        known: cause.known.map(|known| shown(&known).0),
        owner,
        examples: examples.collect(),
    }
}
