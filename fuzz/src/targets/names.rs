//! Names from input in every format: what a file, a symbol or a rule is called is not markup, and no control character.
//!
//! The input is a name. It is put in every place of a report that holds text, and each format is then read by a parser that
//! is not the writer's.

use std::io;

use pulldown_cmark::{Event, Options as MarkdownOptions, Parser, Tag};
use serde_json::Value;
use sframe_history::changes::{self, Changes, Options, Scan};
use sframe_history::groups::{self, Groups};
use sframe_history::{Comparison, Record, Root, When};
use sframe_html::Report;
use sframe_record::{Summary, SymbolNames, markdown};
use sframe_render::report::{
    Github, Grouped, Html, JsonDocument, JsonLines, Junit, Markdown, Renderer, Sarif, Text,
    TextOptions,
};
use sframe_validator::text::is_plain;

use super::scans::BEFORE;

/// A name with something for each format: control sequences, line ends, a workflow command of GitHub, changes of direction,
/// characters that XML does not have, the ends of scripts and of code spans, elements, links and cells.
pub const HOSTILE: &str = "e\u{1b}[31m\u{1b}]0;t\u{7}\n::error::forged\r\n\u{9b}2J\u{202e}\u{2028}\u{fffe}\u{ffff}\0</script><img src=x \
     onerror=alert(1)>`` [c](https://evil.example/) ` | <b>]]>&\"'<!--\u{7f}{{7*7}} www.evil.example @all #1\n\n# h";

/// The fields whose values are no names: other values would make the record unreadable.
const WORDS: [&str; 12] = [
    "type", "status", "severity", "owner", "side", "elf_type", "table", "wrong", "outcome",
    "start", "end", "address",
];

/// Checks every format.
///
/// # Panics
/// Panics if a parser does not accept an output, or finds markup or control characters of a name in it.
pub fn run(data: &[u8]) {
    let name = String::from_utf8_lossy(data);
    let records: Vec<String> = BEFORE.lines().filter_map(|line| with(line, &name)).collect();
    let records = records.iter().map(|line| Record::parse(line).expect("a record"));
    let records: Vec<Record<'_>> = records.collect();
    show(&records);
    compare(&records, &name);
    pieces(&name);
}

/// A record of the report with `name` in all its texts.
fn with(line: &str, name: &str) -> Option<String> {
    let mut record: Value = serde_json::from_str(line).expect("JSON");
    let is_record = record["type"] == "file";
    put(&mut record, name);
    is_record.then(|| record.to_string())
}

fn put(value: &mut Value, name: &str) {
    match value {
        Value::String(text) => text.push_str(name),
        Value::Array(values) => values.iter_mut().for_each(|value| put(value, name)),
        Value::Object(fields) => {
            let names = fields.iter_mut().filter(|(field, _)| !WORDS.contains(&&***field));
            names.for_each(|(_, value)| put(value, name));
        }
        _ => {}
    }
}

fn show(records: &[Record<'_>]) {
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
    lines(&written(|out| render(Text::new(out, options), records)));
    lines(&written(|out| render(Grouped::new(out, options), records)));
    json(&written(|out| render(JsonDocument::new(out, None), records)));
    let text = written(|out| render(JsonLines::new(out, None), records));
    text.lines().for_each(json);
    json(&written(|out| render(Sarif::new(out, Root::default(), None).with_suppressed(), records)));
    commands(&written(|out| render(Github::new(out), records)));
    xml(&written(|out| render(Junit::new(out), records)));
    markup(&written(|out| render(Markdown::new(out, None), records)));
    html(&written(|out| render(Html::new(out, Report::default()), records)));
    let mut groups = Groups::default();
    records.iter().for_each(|record| groups.add(record));
    json(&written(|out| groups::write_json(out, &groups.finish())));
}

fn render(mut renderer: impl Renderer, records: &[Record<'_>]) -> io::Result<()> {
    let mut summary = Summary::default();
    for record in records {
        summary.add(record);
        record.clone().hand_over(&mut renderer)?;
    }
    summary.notes.push(HOSTILE.into());
    renderer.finish(&summary)
}

/// The scan compared with nothing, with the report without the name, and in the other direction.
fn compare(records: &[Record<'_>], name: &str) {
    let before: Vec<Record<'_>> =
        BEFORE.lines().filter_map(|line| Record::parse(line).ok()).collect();
    for [old, new] in [[records, &[]], [&[], records], [&before, records], [records, &before]] {
        let mut comparison = Comparison::new(Scan::complete(name), Scan::complete(HOSTILE));
        old.iter().for_each(|record| comparison.add(When::Old, record));
        new.iter().for_each(|record| comparison.add(When::New, record));
        let changes: Changes = comparison.finish();
        let options = Options { details: usize::MAX };
        lines(&written(|out| changes::write_text(out, &changes, &options)));
        json(&written(|out| changes::write_json(out, &changes)));
        markup(&written(|out| changes::write_markdown(out, &changes, &options)));
        html(&written(|out| sframe_html::write_changes(out, &changes)));
    }
}

/// The functions with which pages are made.
fn pieces(name: &str) {
    let (code, cell) = (markdown::code(name), markdown::code_cell(name));
    let (plain, block) = (markdown::plain(name), markdown::block(name, "text"));
    markup(&format!(
        "# {plain}\n\n| | |\n|---|---|\n| {plain} | {cell} |\n\n{code} {plain}\n\n{block}\n"
    ));
}

fn written(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).expect("writing to memory");
    String::from_utf8(out).expect("text")
}

/// Checks that a text has no other commands to GitHub than those of findings, whose names add no property.
fn commands(text: &str) {
    harmless(text);
    for command in text.lines().filter_map(|line| line.strip_prefix("::")) {
        let (kind, rest) = command.split_once(' ').expect("properties");
        let (properties, _) = rest.split_once("::").expect("a message");
        let is_own = |of: &str| ["file=", "line=", "title="].iter().any(|it| of.starts_with(it));
        let is_known = matches!(kind, "error" | "warning");
        assert!(is_known && properties.split(',').all(is_own), "{text}");
    }
}

/// Checks that a text has no characters that a terminal interprets, except line ends and the program's styles, and that no
/// line is a command to GitHub.
fn lines(text: &str) {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\x1b[") {
        plain.push_str(before);
        let (style, after) = after.split_once('m').expect("a style");
        assert!(style.bytes().all(|byte| byte.is_ascii_digit() || byte == b';'), "{style:?}");
        rest = after;
    }
    plain.push_str(rest);
    harmless(&plain);
    assert!(plain.lines().all(|line| !line.starts_with("::")), "{plain}");
}

fn harmless(text: &str) {
    let harmful = text.chars().find(|&of| of != '\n' && !is_plain(of));
    assert_eq!(harmful, None, "{text:?}");
}

fn json(text: &str) {
    harmless(text);
    serde_json::from_str::<Value>(text).expect("JSON");
}

fn xml(text: &str) {
    harmless(text);
    let document = roxmltree::Document::parse(text).expect("XML");
    let known =
        ["testsuites", "testsuite", "testcase", "system-out", "failure", "error", "skipped"];
    let names = document.descendants().filter(roxmltree::Node::is_element);
    assert!(names.map(|node| node.tag_name().name()).all(|name| known.contains(&name)), "{text}");
}

/// Checks that a page has no HTML, links and images.
fn markup(text: &str) {
    harmless(text);
    for event in Parser::new_ext(text, MarkdownOptions::ENABLE_TABLES) {
        let is_live = match &event {
            Event::Html(_) | Event::InlineHtml(_) => true,
            Event::Start(tag) => matches!(tag, Tag::Link { .. } | Tag::Image { .. }),
            _ => false,
        };
        assert!(!is_live, "{event:?} in\n{text}");
    }
}

/// Checks that no element of a name is one of the page. The page's own elements come from templates.
fn html(text: &str) {
    assert!(!text.contains("<img src=x") && !text.contains("<b>]]>"), "an element of a name");
    assert_eq!(text.matches("<script").count(), text.matches("</script").count());
}
