//! JUnit's XML, which CI systems show as test results.
//!
//! A file is a test suite. Each rule that it breaks is a test: a failure if it is an error, otherwise a passed test with the
//! warning as its output. A file without findings is one passed test, and one that cannot be read is a test with an
//! error. Forecasts are passed tests with their figures as output, and those of packages and of all files are a suite. Gates
//! that the scan does not pass are a suite of their own. Suites are written one by one, so that memory does not grow with their number.

use std::collections::BTreeMap;
use std::io::{self, Write};

use quick_xml::Writer;
use quick_xml::events::{BytesDecl, BytesEnd, BytesStart, BytesText, Event};
use sframe_record::numbers::counted;
use sframe_record::text::printable;
use sframe_record::{
    FailedGate, Finding, Forecast, Record, Severity, Status, Summary, with_ruling,
};

use super::{Renderer, table};

/// The number of findings of a rule that are listed for each file.
const LISTED: usize = 20;

/// Writes the XML.
pub struct Junit<W: Write> {
    out: Writer<W>,
    /// The record that was started, with the first findings of each rule.
    started: Option<Record<'static>>,
}

impl<W: Write> Junit<W> {
    /// A renderer that writes to `out`.
    pub fn new(out: W) -> Junit<W> {
        Junit { out: Writer::new_with_indent(out, b' ', 1), started: None }
    }

    fn suite(&mut self, name: &str, tests: &[Test]) -> io::Result<()> {
        let count = |outcome: &dyn Fn(&Outcome) -> bool| {
            tests.iter().filter(|test| outcome(&test.outcome)).count().to_string()
        };
        let failures = count(&|outcome| matches!(outcome, Outcome::Failure(_)));
        let errors = count(&|outcome| matches!(outcome, Outcome::Error(_)));
        let skipped = count(&|outcome| matches!(outcome, Outcome::Skipped(_)));
        let number = tests.len().to_string();
        let suite = BytesStart::new("testsuite").with_attributes([
            ("name", name),
            ("tests", &number),
            ("failures", &failures),
            ("errors", &errors),
            ("skipped", &skipped),
        ]);
        self.out.write_event(Event::Start(suite))?;
        tests.iter().try_for_each(|test| self.test(name, test))?;
        self.out.write_event(Event::End(BytesEnd::new("testsuite")))
    }

    fn test(&mut self, file: &str, test: &Test) -> io::Result<()> {
        let case = BytesStart::new("testcase")
            .with_attributes([("classname", file), ("name", &*test.name)]);
        self.out.write_event(Event::Start(case))?;
        let (element, message) = match &test.outcome {
            Outcome::Passed(None) => ("", ""),
            Outcome::Passed(Some(text)) => {
                self.element("system-out", None, text)?;
                ("", "")
            }
            Outcome::Failure(text) => ("failure", &**text),
            Outcome::Error(text) => ("error", &**text),
            Outcome::Skipped(text) => ("skipped", &**text),
        };
        if !element.is_empty() {
            let first = message.lines().next().unwrap_or_default();
            self.element(element, Some(first), message)?;
        }
        self.out.write_event(Event::End(BytesEnd::new("testcase")))
    }

    fn element(&mut self, name: &str, message: Option<&str>, text: &str) -> io::Result<()> {
        let start = BytesStart::new(name).with_attributes(message.map(|text| ("message", text)));
        self.out.write_event(Event::Start(start))?;
        self.out.write_event(Event::Text(BytesText::new(text)))?;
        self.out.write_event(Event::End(BytesEnd::new(name)))
    }
}

impl<W: Write> Renderer for Junit<W> {
    fn begin(&mut self) -> io::Result<()> {
        self.out.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
        let suites = BytesStart::new("testsuites").with_attributes([("name", "sframe-check")]);
        self.out.write_event(Event::Start(suites))
    }

    fn file(&mut self, record: &Record<'_>) -> io::Result<()> {
        match record.status {
            Status::NotElf | Status::Special | Status::Unsupported => Ok(()),
            _ => self.suite(&record.name(), &tests(record)),
        }
    }

    fn start(&mut self, record: Record<'static>) -> io::Result<()> {
        self.started = Some(record);
        Ok(())
    }

    fn findings(&mut self, findings: Vec<Finding<'static>>) -> io::Result<()> {
        let Some(record) = &mut self.started else { return Ok(()) };
        for finding in findings {
            let same = record.findings.iter().filter(|listed| listed.rule == finding.rule);
            if same.count() < LISTED {
                record.findings.push(finding);
            }
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        self.started.take().map_or(Ok(()), |record| self.file(&record))
    }

    fn end(&mut self, summary: &Summary<'_>) -> io::Result<()> {
        let forecasts = forecasts(summary);
        if !forecasts.is_empty() {
            self.suite("forecast", &forecasts)?;
        }
        let gates: Vec<Test> = summary.failed_gates.iter().map(Test::of_gate).collect();
        if !gates.is_empty() {
            self.suite("gates", &gates)?;
        }
        self.out.write_event(Event::End(BytesEnd::new("testsuites")))?;
        writeln!(self.out.get_mut())?;
        self.out.get_mut().flush()
    }
}

/// A test of a suite.
struct Test {
    name: String,
    outcome: Outcome,
}

impl Test {
    /// Skipped if the section is not known in any encoding.
    fn of_forecast(name: String, forecast: &Forecast<'_>) -> Test {
        let figures = forecast.table();
        let reasons: Vec<&str> = (forecast.sections.iter())
            .filter_map(|section| section.reason.as_ref().map(|reason| reason.as_str()))
            .collect();
        let outcome = match figures.columns.is_empty() {
            true => Outcome::Skipped(reasons.join("\n")),
            false => Outcome::Passed(Some(table::text(&figures))),
        };
        Test { name, outcome }
    }

    fn of_gate(gate: &FailedGate<'_>) -> Test {
        let message = gate.message.to_string();
        let outcome = match gate.undecided {
            true => Outcome::Skipped(message),
            false => Outcome::Failure(message),
        };
        Test { name: gate.gate.to_string(), outcome }
    }
}

enum Outcome {
    Passed(Option<String>),
    Failure(String),
    Error(String),
    Skipped(String),
}

/// The tests of a file.
fn tests(record: &Record<'_>) -> Vec<Test> {
    let reason = || record.reason.as_ref().map(ToString::to_string).unwrap_or_default();
    let test = |name: &str, outcome| Test { name: name.to_owned(), outcome };
    match record.status {
        Status::Unreadable => return vec![test("readable", Outcome::Error(reason()))],
        Status::Crashed => return vec![test("checked", Outcome::Error(reason()))],
        _ => {}
    }
    let mut by_rule: BTreeMap<(&str, Severity), u64> = BTreeMap::new();
    for count in &record.counts {
        let number = by_rule.entry((count.rule.as_str(), count.severity)).or_default();
        *number = number.saturating_add(count.count);
    }
    let mut tests: Vec<Test> = (by_rule.into_iter())
        .map(|((rule, severity), number)| {
            let text = listed(record, rule, severity, number);
            let outcome = match severity {
                Severity::Error => Outcome::Failure(text),
                Severity::Warning | Severity::Lint => Outcome::Passed(Some(text)),
            };
            test(&printable(rule), outcome)
        })
        .collect();
    tests.extend(
        record
            .undecided
            .iter()
            .map(|undecided| test("undecided", Outcome::Skipped(undecided.reason.to_string()))),
    );
    if let Some(forecast) = &record.forecast {
        tests.push(Test::of_forecast("forecast".to_owned(), forecast));
    }
    if tests.is_empty() {
        let outcome = match record.status {
            Status::NoSection => Outcome::Skipped("no SFrame section".to_owned()),
            _ => Outcome::Passed(None),
        };
        tests.push(test("SFrame", outcome));
    }
    tests
}

/// The forecasts of packages and of all files.
fn forecasts(summary: &Summary<'_>) -> Vec<Test> {
    let packages = summary.forecast_packages.iter().flat_map(|of| &of.packages);
    let packages = packages.map(|of| Test::of_forecast(of.label(), &of.total.forecast));
    let totals = summary.forecasts();
    let totals = totals
        .iter()
        .map(|(total, noun)| Test::of_forecast(counted(total.files, noun), &total.forecast));
    packages.chain(totals).collect()
}

/// The findings of a rule in words, one on each line.
fn listed(record: &Record<'_>, rule: &str, severity: Severity, number: u64) -> String {
    let of_rule =
        |finding: &&Finding<'_>| finding.rule.as_str() == rule && finding.severity == severity;
    let mut described = 0_u64;
    let mut lines: Vec<String> = Vec::new();
    for finding in record.findings.iter().filter(of_rule).take(LISTED) {
        described = described.saturating_add(finding.weight());
        let known = finding.known.as_ref().map(|known| format!(" (known: {known})"));
        let function = finding.function.as_ref().and_then(|of| of.symbol.as_ref());
        let symbol = function.or_else(|| finding.code.as_ref().and_then(|of| of.symbol.as_ref()));
        let place = symbol.map(|symbol| format!("{symbol}: ")).unwrap_or_default();
        let message = format!("{place}{}{}", finding.message, known.unwrap_or_default());
        lines.push(with_ruling(&message, finding.ruling(record.table).as_deref()));
    }
    let more = number.saturating_sub(described);
    if more > 0 {
        lines.push(format!("and {} more", counted(more, "finding")));
    }
    lines.join("\n")
}
