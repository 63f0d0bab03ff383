//! Reads reports, compares them with themselves and with a fixed one, groups them, and prints them in every format.

use std::io;

use sframe_history::changes::{self, Changes, Options, Scan, Summary as Counts};
use sframe_history::groups::{self, Groups, RootCauses};
use sframe_history::report::{self, Error};
use sframe_history::{Comparison, Root, When};
use sframe_html::Report;
use sframe_policy::{Judge, Policy};
use sframe_record::{Record, Summary, SymbolNames};
use sframe_render::report::{
    Github, Grouped, Html, Junit, Markdown, Renderer, Sarif, Text, TextOptions,
};

/// A scan with a record of each kind, with which others are compared.
pub const BEFORE: &str = include_str!("before.ndjson");

pub(super) fn run(data: &[u8]) {
    let mut groups = Groups::default();
    if let Err(error) = report::read(data, |record| groups.add(record)) {
        assert!(!error.to_string().is_empty());
        return;
    }
    check_causes(&groups.finish());
    show(data);
    let before = BEFORE.as_bytes();
    let compared = |old, new| compare([(When::Old, old), (When::New, new)]).expect("read before");
    let itself = compared(data, data);
    nothing_new(&itself);
    let forward = compared(before, data);
    // The changes do not depend on which of the scans is read first.
    let other_order = compare([(When::New, data), (When::Old, before)]).expect("read before");
    assert_eq!(forward, other_order);
    let backward = compared(data, before);
    opposites(&forward, &backward);
    [itself, forward, backward].iter().for_each(render_changes);
}

fn compare(scans: [(When, &[u8]); 2]) -> Result<Changes, Error> {
    let mut comparison = Comparison::new(Scan::default(), Scan::default());
    for (when, report) in scans {
        let ending = report::read(report, |record| comparison.add(when, record))?;
        let scan = comparison.scan_mut(when);
        (scan.complete, scan.tool) = (ending.complete, ending.tool);
    }
    Ok(comparison.finish())
}

/// Compares a scan with itself. Only undecided results may differ.
fn nothing_new(changes: &Changes) {
    let summary = &changes.summary;
    assert!(!changes.worse, "{changes:#?}");
    let findings = [summary.new, summary.fixed, summary.missing, summary.changed];
    assert_eq!(findings.map(|counts| counts.all()), [0; 4], "{changes:#?}");
    assert_eq!((summary.came, summary.gone, summary.renamed), (0, 0, 0), "{changes:#?}");
    assert_eq!((summary.coverage_lost, summary.coverage_gained), (0, 0), "{changes:#?}");
}

/// Checks that new findings in one direction are fixed in the other. Severities are left out: if the scans give a rule
/// different severities, that of the later scan is used.
fn opposites(forward: &Changes, backward: &Changes) {
    let (forward, backward) = (&forward.summary, &backward.summary);
    // A finding is new in one direction, and fixed or missing in the other. Missing ones are counted where they are not listed.
    let lost = |of: &Counts| of.fixed.all().saturating_add(of.missing.all());
    assert!(forward.new.all() <= lost(backward) && backward.new.all() <= lost(forward));
    assert_eq!((forward.came, forward.gone), (backward.gone, backward.came));
    assert_eq!(
        (forward.changed.all(), forward.undecided),
        (backward.changed.all(), backward.undecided)
    );
    assert_eq!((forward.matched, forward.unmatched), (backward.matched, backward.unmatched));
    let described = [forward.described_old, forward.described_new];
    assert_eq!(described, [backward.described_new, backward.described_old]);
}

fn render_changes(changes: &Changes) {
    for details in [0, 2, usize::MAX] {
        let options = Options { details };
        harmless(|out| changes::write_text(out, changes, &options));
        harmless(|out| changes::write_markdown(out, changes, &options));
    }
    json(|out| changes::write_json(out, changes));
}

/// The scan as `show` prints it, with every detail of the text.
fn show(data: &[u8]) {
    let options = TextOptions {
        findings: true,
        verbose: true,
        all: true,
        coverage: true,
        summary: true,
        known: true,
        names: SymbolNames::Demangled,
        width: Some(80),
    };
    harmless(|out| render(Text::new(out, options), data));
    harmless(|out| render(Grouped::new(out, options), data));
    harmless(|out| render(Junit::new(out), data));
    harmless(|out| render(Markdown::new(out, None), data));
    harmless(|out| render(Github::new(out), data));
    json(|out| render(Sarif::new(out, Root::default(), None).with_suppressed(), data));
    // Its scripts have tabs.
    written(|out| render(Html::new(out, Report::default()), data));
}

fn render(mut renderer: impl Renderer, data: &[u8]) -> io::Result<()> {
    let (mut summary, mut judge) = (Summary::default(), Judge::new(Policy::default()));
    let each = |record: &Record<'_>| {
        let record = judge.judge(record.clone());
        summary.add(&record);
        record.hand_over(&mut renderer).expect("writing to memory");
    };
    report::read(data, each).expect("read before");
    renderer.finish(&summary)
}

/// Checks that every finding has one cause.
fn check_causes(causes: &RootCauses) {
    let findings = causes.causes.iter().map(|cause| cause.findings);
    assert_eq!(findings.fold(0, u64::saturating_add), causes.findings);
    let options = groups::Options { causes: usize::MAX, names: SymbolNames::Demangled };
    harmless(|out| groups::write_text(out, causes, options));
    json(|out| groups::write_json(out, causes));
}

/// The control sequences that renderers write: bold, dim, red, green, yellow, cyan, and the one that resets them.
const STYLES: [&str; 7] =
    ["\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[32m", "\x1b[33m", "\x1b[36m", "\x1b[0m"];

/// Checks that no text from a file reaches a terminal as a control character, or changes the direction of text.
fn harmless(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) {
    let mut text = String::from_utf8(written(write)).expect("text");
    for style in STYLES {
        text = text.replace(style, "");
    }
    let turns = |c| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let harmful = text.chars().find(|&c| c.is_control() && c != '\n' || turns(c));
    assert_eq!(harmful, None, "{text:?}");
}

fn json(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) {
    serde_json::from_slice::<serde_json::Value>(&written(write)).expect("JSON");
}

fn written(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out).expect("writing to memory");
    out
}
