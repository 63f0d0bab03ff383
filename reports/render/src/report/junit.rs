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
    Events, FailedGate, Finding, Forecast, Record, Severity, Status, Summary, with_ruling,
};

use super::{Renderer, table};

/// The number of findings of a rule that are listed for each file.
const LISTED: usize = 20;

/// Writes the XML.
pub struct Junit<W: Write> {
    out: Writer<W>,
    /// Whether the beginning was written.
    started: bool,
    /// The first findings of the file, by rule and severity.
    listed: BTreeMap<(String, Severity), Listed>,
}

/// Findings in words.
#[derive(Debug, Default)]
struct Listed {
    lines: Vec<String>,
    /// The number of findings that they stand for.
    described: u64,
}

impl<W: Write> Junit<W> {
    /// A renderer that writes to `out`; nothing before the first suite.
    pub fn new(out: W) -> Junit<W> {
        let out = Writer::new_with_indent(out, b' ', 1);
        Junit { out, started: false, listed: BTreeMap::new() }
    }

    /// Writes the beginning of the document, once.
    fn start(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.started, true) {
            return Ok(());
        }
        self.out.write_event(Event::Decl(BytesDecl::new("1.0", Some("UTF-8"), None)))?;
        let suites = BytesStart::new("testsuites").with_attributes([("name", "sframe-check")]);
        self.out.write_event(Event::Start(suites))
    }

    fn suite(&mut self, name: &str, tests: &[Test]) -> io::Result<()> {
        self.start()?;
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

impl<W: Write> Events for Junit<W> {
    fn begin(&mut self, _: &Record<'_>) -> io::Result<()> {
        self.listed.clear();
        Ok(())
    }

    fn finding(&mut self, head: &Record<'_>, finding: &Finding<'_>) -> io::Result<()> {
        let key = (finding.rule.as_str().to_owned(), finding.severity);
        let listed = self.listed.entry(key).or_default();
        if listed.lines.len() < LISTED {
            listed.lines.push(line(head, finding));
            listed.described = listed.described.saturating_add(finding.weight());
        }
        Ok(())
    }

    fn end(&mut self, record: &Record<'_>) -> io::Result<()> {
        match record.status {
            Status::NotElf | Status::Special | Status::Unsupported => Ok(()),
            _ => {
                let listed = std::mem::take(&mut self.listed);
                self.suite(&record.name(), &tests(record, listed))
            }
        }
    }
}

impl<W: Write> Renderer for Junit<W> {
    fn finish(&mut self, summary: &Summary<'_>) -> io::Result<()> {
        let forecasts = forecasts(summary);
        if !forecasts.is_empty() {
            self.suite("forecast", &forecasts)?;
        }
        let gates: Vec<Test> = summary.failed_gates.iter().map(Test::of_gate).collect();
        if !gates.is_empty() {
            self.suite("gates", &gates)?;
        }
        self.start()?;
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
fn tests(record: &Record<'_>, mut listed: BTreeMap<(String, Severity), Listed>) -> Vec<Test> {
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
            let listed = listed.remove(&(rule.to_owned(), severity)).unwrap_or_default();
            let text = listed.text(number);
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

/// A finding in words.
fn line(head: &Record<'_>, finding: &Finding<'_>) -> String {
    let known = finding.known.as_ref().map(|known| format!(" (known: {known})"));
    let function = finding.function.as_ref().and_then(|of| of.symbol.as_ref());
    let symbol = function.or_else(|| finding.code.as_ref().and_then(|of| of.symbol.as_ref()));
    let place = symbol.map(|symbol| format!("{symbol}: ")).unwrap_or_default();
    let message = format!("{place}{}{}", finding.advice(), known.unwrap_or_default());
    with_ruling(&message, finding.ruling(head.table).as_deref())
}

impl Listed {
    /// The findings, one on each line, and how many of `number` are not among them.
    fn text(mut self, number: u64) -> String {
        let more = number.saturating_sub(self.described);
        if more > 0 {
            self.lines.push(format!("and {} more", counted(more, "finding")));
        }
        self.lines.join("\n")
    }
}
