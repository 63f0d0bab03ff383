//! Files and findings of a comparison as the page lists them. Strings are positions in the page's table.

use serde::Serialize;
use sframe_history::changes::{Change, FileChange, FindingChange, RowScan, TableLine, phrases};
use sframe_record::Side;

use crate::strings::Strings;

/// The maximum number of rows and lines that are shown for a finding or a file.
const MOST: usize = 200;

/// The maximum number of functions in a line.
const NAMES: usize = 20;

/// A file with changes.
#[derive(Debug, Serialize)]
pub(super) struct FileRow {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    package: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    matched: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    became: Option<String>,
    worse: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    coverage: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    undecided: Vec<String>,
    /// New, changed and fixed findings.
    counts: [usize; 3],
    /// Its first finding, and the one after its last.
    findings: [usize; 2],
}

/// A finding that is new, changed or fixed.
#[derive(Debug, Serialize)]
pub(super) struct FindingRow {
    file: usize,
    /// 0 new, 1 changed, 2 fixed.
    change: u8,
    rule: u32,
    severity: u8,
    message: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    before: Option<u32>,
    place: u32,
    /// What people call the table that SFrame was compared with, if there are rows.
    #[serde(skip_serializing_if = "Option::is_none")]
    compared_with: Option<u32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    table: Vec<Row>,
}

/// Scan (0 both, 1 old, 2 new), side (0 both, 1 SFrame, 2 CFI), PC, CFA, RA, FP.
type Row = (u8, u8, u32, u32, u32, u32);

/// The row of a file with the findings `first..end`.
pub(super) fn file(
    strings: &mut Strings,
    change: &FileChange,
    first: usize,
    end: usize,
) -> FileRow {
    let count = |wanted| change.findings.iter().filter(|of| of.change == wanted).count();
    let name = change.name().map(ToString::to_string).unwrap_or_default();
    let package = change.name().and_then(|name| match (&name.package, &name.inside) {
        (Some(package), _) => Some(package.clone()),
        (None, Some(_)) => Some(name.path.clone()),
        (None, None) => None,
    });
    let lines = |strings: &mut Strings, lines: Vec<String>| {
        lines.iter().take(MOST).map(|line| strings.shown(line)).collect()
    };
    FileRow {
        name: strings.shown(&name),
        package: package.map(|package| strings.of(&package)),
        matched: phrases::matched(change).map(|text| strings.shown(&text)),
        became: phrases::became(change).map(|text| strings.shown(&text)),
        worse: change.worse,
        coverage: match &change.coverage {
            Some(coverage) => {
                let mut all = vec![phrases::coverage(coverage)];
                all.extend(phrases::causes(coverage, NAMES));
                lines(strings, all)
            }
            None => Vec::new(),
        },
        undecided: lines(strings, phrases::undecided(change).collect()),
        counts: [count(Change::New), count(Change::Changed), count(Change::Fixed)],
        findings: [first, end],
    }
}

/// The row of a finding in the file at position `file`.
pub(super) fn finding(strings: &mut Strings, file: usize, finding: &FindingChange) -> FindingRow {
    let place = finding.place();
    FindingRow {
        file,
        change: finding.change as u8,
        rule: strings.of(&finding.rule),
        severity: finding.severity as u8,
        message: strings.of(place.map_or("", |place| place.message.as_str())),
        before: phrases::before(finding).map(|text| strings.of(&text)),
        place: strings.of(&place.map(phrases::place).unwrap_or_default()),
        compared_with: (!finding.table.is_empty())
            .then(|| strings.of(&phrases::compared_with(finding))),
        table: finding.table.iter().take(MOST).map(|line| row(strings, line)).collect(),
    }
}

fn row(strings: &mut Strings, line: &TableLine) -> Row {
    let scan = match line.scan {
        RowScan::Both => 0,
        RowScan::Old => 1,
        RowScan::New => 2,
    };
    let side = match line.side {
        Side::Both => 0,
        Side::Sframe | Side::First => 1,
        Side::Cfi | Side::Second => 2,
    };
    let frame = &line.frame;
    let texts = [&line.start, &frame.cfa, &frame.signed_ra(), &frame.fp];
    let [start, cfa, ra, fp] = texts.map(|text| strings.of(text));
    (scan, side, start, cfa, ra, fp)
}
