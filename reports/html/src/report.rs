//! The report of one scan.

use std::collections::HashMap;
use std::io::{self, Write};

use serde::Serialize;
use sframe_record::{Finding, Pages, Record, Severity, Status, Summary, catalogue, demangle};

use crate::causes::{CauseRow, Causes};
use crate::details::{Details, format_of};
use crate::history::Point;
use crate::overview::Overview;
use crate::page::{Data, Page};
use crate::strings::{Strings, shown};

/// The maximum number of files on a page.
const MOST_FILES: usize = 200_000;

/// The maximum number of findings on a page, and of one file.
const MOST_FINDINGS: usize = 100_000;
const MOST_OF_FILE: usize = 1_000;

/// The views of a scan: the fragment of the address, and the name.
const VIEWS: [(&str, &str); 6] = [
    ("overview", "Overview"),
    ("causes", "Root causes"),
    ("rules", "Rules"),
    ("packages", "Packages"),
    ("files", "Files"),
    ("findings", "Findings"),
];

/// Collects the records of a scan, and writes them as one HTML file.
///
/// Memory grows with the number of files and findings, up to limits. The page says what it leaves out.
///
/// ```
/// use sframe_html::Report;
/// use sframe_record::{Record, Summary};
///
/// let line = r#"{"path":"<b>.o","status":"checked","code_bytes":8,
///     "counts":[{"rule":"cfa-mismatch","severity":"error","count":1,"files":1}]}"#;
/// let record = Record::parse(line)?;
/// let (mut report, mut summary) = (Report::default(), Summary::default());
/// report.add(&record)?;
/// summary.add(&record);
/// let mut page = Vec::new();
/// report.finish(&summary, &mut page)?;
/// let page = String::from_utf8(page).expect("UTF-8");
/// assert!(page.starts_with("<!doctype html>"));
/// // Names from the input are text, never markup.
/// assert!(page.contains(r"\u003cb\u003e.o") && !page.contains("<b>.o"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Report {
    strings: Strings,
    rules: Rules,
    files: Vec<FileRow>,
    findings: Vec<FindingRow>,
    /// The findings of the current file that the page lists.
    listed: Vec<Finding<'static>>,
    details: Details,
    causes: Causes,
    history: Vec<Point>,
    name: String,
    left_out: LeftOut,
    pages: Option<Pages>,
}

/// The parts of the scan that are not on the page.
#[derive(Clone, Copy, Debug, Default, Serialize)]
struct LeftOut {
    files: u64,
    findings: u64,
    details: u64,
    causes: u64,
    texts: u64,
}

/// A file as the page lists it: name, package, status, formats, bytes of code, bytes that SFrame describes, errors,
/// warnings, lints, undecided parts, its first finding and their number, details.
#[derive(Debug, Serialize)]
struct FileRow(
    String,
    Option<u32>,
    u8,
    Option<u32>,
    u64,
    u64,
    u64,
    u64,
    u64,
    u64,
    usize,
    usize,
    Option<u32>,
);

/// A finding as the page lists it: file, rule, message, symbol, address, root cause, weight, who has to act.
#[derive(Debug, Serialize)]
struct FindingRow(usize, u32, u32, Option<u32>, String, Option<u32>, u64, Option<String>);

/// The rules that are broken.
#[derive(Debug, Default)]
struct Rules {
    rows: Vec<RuleRow>,
    places: HashMap<(String, Severity, Option<String>), u32>,
}

/// A rule with the text of its page, if it is known. Cases of a known defect are apart.
#[derive(Debug, Serialize)]
struct RuleRow {
    name: String,
    severity: u8,
    count: u64,
    files: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    known: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<[&'static str; 4]>,
    /// The address of its page on the web.
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<String>,
}

impl Rules {
    fn place(&mut self, name: &str, severity: Severity, known: Option<&str>) -> u32 {
        let next = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        let rows = &mut self.rows;
        let key = (name.to_owned(), severity, known.map(str::to_owned));
        *self.places.entry(key).or_insert_with(|| {
            let page = catalogue::find(name).map(|rule| rule.page);
            rows.push(RuleRow {
                name: shown(name).0,
                severity: severity as u8,
                count: 0,
                files: 0,
                known: known.map(|known| shown(known).0),
                page: page.map(|of| [of.summary, of.consequence, of.remedy, of.source]),
                address: None,
            });
            next
        })
    }

    /// The rules with their counts.
    fn finish(mut self, summary: &Summary<'_>, pages: Option<&Pages>) -> Vec<RuleRow> {
        for count in &summary.rules {
            let place = self.place(&count.rule, count.severity, count.known.as_deref());
            if let Some(row) = self.rows.get_mut(place as usize) {
                (row.count, row.files) = (count.count, count.files);
            }
        }
        for row in self.rows.iter_mut().filter(|row| row.page.is_some()) {
            row.address = pages.map(|pages| pages.of_rule(&row.name));
        }
        self.rows
    }
}

/// The data of the page.
#[derive(Serialize)]
struct Scan<'d> {
    kind: &'static str,
    table: &'static str,
    strings: &'d [String],
    rules: Vec<RuleRow>,
    files: &'d [FileRow],
    findings: &'d [FindingRow],
    causes: &'d [CauseRow],
    /// The first file of each chunk of details.
    chunks: Vec<u32>,
    history: &'d [Point],
    left: LeftOut,
}

impl Report {
    /// Sets the name of the scan, such as the path of its store.
    pub fn set_name(&mut self, name: &str) {
        name.clone_into(&mut self.name);
    }

    /// Links the names of rules to their pages.
    pub fn set_pages(&mut self, pages: Option<Pages>) {
        self.pages = pages;
    }

    /// Adds the figures of an earlier scan, for the lines over time. Earlier scans are added from the oldest on.
    pub fn add_earlier(&mut self, name: &str, summary: &Summary<'_>) {
        self.history.push(Point::of(name, summary));
    }

    /// Adds the record of a file.
    ///
    /// # Errors
    /// Returns an error if the record cannot be written as JSON.
    pub fn add(&mut self, record: &Record<'_>) -> io::Result<()> {
        record.findings.iter().for_each(|finding| self.finding(record, finding));
        self.end(record)
    }

    /// Adds a finding of the file that [`end`](Report::end) ends. `head` is its record without its findings and its counts.
    pub fn finding(&mut self, head: &Record<'_>, finding: &Finding<'_>) {
        self.causes.finding(head, finding);
        let room = match self.files.len() {
            files if files >= MOST_FILES => 0,
            _ => MOST_FINDINGS.saturating_sub(self.findings.len()).min(MOST_OF_FILE),
        };
        if self.listed.len() < room {
            self.listed.push(finding.owned());
        } else {
            self.left_out.findings = self.left_out.findings.saturating_add(1);
        }
    }

    /// Ends a file. The findings in its record were added before.
    ///
    /// # Errors
    /// Returns an error if the record cannot be written as JSON.
    pub fn end(&mut self, record: &Record<'_>) -> io::Result<()> {
        self.causes.end(record);
        let listed = std::mem::take(&mut self.listed);
        if self.files.len() >= MOST_FILES {
            self.left_out.files = self.left_out.files.saturating_add(1);
            return Ok(());
        }
        let file = self.files.len();
        let first = self.findings.len();
        for finding in &listed {
            let row = self.row(file, record, finding);
            self.findings.push(row);
        }
        let details = if has_details(record) { self.details.add(record, &listed)? } else { None };
        let count = |severity| {
            let counts = record.counts.iter().filter(|of| of.severity == severity);
            counts.map(|of| of.count).fold(0, u64::saturating_add)
        };
        let mut formats: Vec<String> = record.sections.iter().map(format_of).collect();
        formats.sort_unstable();
        formats.dedup();
        let formats = (!formats.is_empty()).then(|| self.strings.of(&formats.join(", ")));
        let package = match (&record.package, &record.inside) {
            (Some(package), _) => Some(self.strings.of(&package.name)),
            (None, Some(_)) => Some(self.strings.of(&record.path)),
            (None, None) => None,
        };
        self.files.push(FileRow(
            self.strings.shown(&record.name()),
            package,
            record.status as u8,
            formats,
            record.code_bytes,
            record.covered_bytes,
            count(Severity::Error),
            count(Severity::Warning),
            count(Severity::Lint),
            record.undecided.len() as u64,
            first,
            listed.len(),
            details,
        ));
        Ok(())
    }

    fn row(&mut self, file: usize, record: &Record<'_>, finding: &Finding<'_>) -> FindingRow {
        let function = finding.function.as_deref();
        let code = finding.code.as_deref();
        let symbol = function.and_then(|of| of.symbol.as_ref());
        let symbol = symbol.or(code.and_then(|of| of.symbol.as_ref()));
        let start = code.map(|of| of.start).or(function.and_then(|of| of.start));
        FindingRow(
            file,
            self.rules.place(&finding.rule, finding.severity, finding.known.as_deref()),
            self.strings.of(&finding.advice()),
            symbol.map(|symbol| self.strings.of(&demangle(symbol))),
            start.map(|start| start.to_string()).unwrap_or_default(),
            self.causes.of(record, finding),
            finding.weight(),
            finding.owner_in_words().map(|owner| self.strings.shown(&owner)),
        )
    }

    /// Writes the page.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    pub fn finish(mut self, summary: &Summary<'_>, out: &mut dyn Write) -> io::Result<()> {
        let causes = self.causes.finish();
        for finding in &mut self.findings {
            finding.5 = finding.5.and_then(|number| causes.place(number));
        }
        if !self.history.is_empty() {
            self.history.push(Point::of(&self.name, summary));
        }
        let texts = self.details.cut().saturating_add(self.strings.cut);
        let left = LeftOut {
            details: self.details.left_out,
            causes: causes.left_out,
            texts,
            ..self.left_out
        };
        let (chunks, details) = self.details.finish()?.into_iter().unzip();
        let data = Scan {
            kind: "scan",
            table: summary.tables(),
            strings: self.strings.all(),
            rules: self.rules.finish(summary, self.pages.as_ref()),
            files: &self.files,
            findings: &self.findings,
            causes: &causes.rows,
            chunks,
            history: &self.history,
            left,
        };
        let overview = Overview::of(summary, &self.history);
        let page =
            Page { name: &self.name, title: "SFrame report", views: &VIEWS, overview: &overview };
        page.write(out, &Data { data: &data, details })
    }
}

/// Whether there is more to show about a file than its row.
fn has_details(record: &Record<'_>) -> bool {
    match record.status {
        Status::Checked | Status::NoSection | Status::Archive => true,
        Status::Unsupported | Status::NotElf | Status::Special => record.reason.is_some(),
        Status::Unreadable | Status::Crashed => true,
    }
}
