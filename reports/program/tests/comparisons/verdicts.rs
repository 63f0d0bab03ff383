//! Who is wrong and what was compared, in root causes and in comparisons of scans.
//!
//! `corpus/orc/module.s` says which table is wrong where. `corpus/wrong-cfi` has functions in which SFrame has inherited an
//! error of CFI.

use std::path::Path;

use crate::scans::{compare, findings, scan};
use serde_json::Value;
use sframe_corpus::corpus;
use sframe_history::changes::{Changes, Options, write_markdown, write_text};
use sframe_history::groups::{self, RootCauses};
use sframe_history::{Groups, Record, report};
use sframe_record::{SymbolNames, UnwindTable, Wrong};

const INHERITS: &str = "wrong-cfi/pushes-without-directives/2.44.o";

fn causes(report: &str) -> RootCauses {
    let mut groups = Groups::default();
    report::read(report.as_bytes(), |record| groups.add(record)).expect("a report");
    groups.finish()
}

/// The changes from a scan without findings to one of a file.
fn appeared(file: &str, options: &[&str]) -> Changes {
    let new = scan(&corpus(), &[options, &[file]].concat());
    let old = format!(
        r#"{{"type":"file","path":"{file}","status":"checked","proofs":{{}},"coverage":{{}}}}"#
    );
    compare(&old, &new)
}

/// The legends of tables: what is in parentheses after the titles of the columns.
fn legends(changes: &Changes) -> Vec<String> {
    let mut text = Vec::new();
    write_text(&mut text, changes, &Options { details: usize::MAX }).expect("memory");
    let text = String::from_utf8(text).expect("UTF-8");
    let mut markdown = Vec::new();
    write_markdown(&mut markdown, changes, &Options { details: usize::MAX }).expect("memory");
    let markdown = String::from_utf8(markdown).expect("UTF-8");
    let of = |text: &str| -> Vec<String> {
        let titles = text.lines().filter(|line| line.trim_start().starts_with("PC "));
        let legends = titles.filter_map(|title| Some(title.split_once('(')?.1.to_owned()));
        legends.map(|legend| legend.trim_end_matches(')').to_owned()).collect()
    };
    assert_eq!(of(&text), of(&markdown));
    of(&text)
}

#[test]
fn legends_name_what_was_compared() {
    let orc = appeared("orc/module.o", &["--against", "orc"]);
    assert_eq!(legends(&orc), ["- SFrame, + ORC"; 2]);
    let table = orc.files.iter().flat_map(|file| &file.findings);
    let table: Vec<_> = table.filter_map(|of| of.new.as_ref()?.compared_with).collect();
    assert_eq!(table, [UnwindTable::Orc; 2]);
    let code = appeared(INHERITS, &["--against", "code"]);
    assert_eq!(legends(&code), ["- SFrame"]);
    let both = appeared(INHERITS, &["--thorough"]);
    assert_eq!(legends(&both), ["SFrame and CFI"]);
    let cfi = appeared("differences/register-in-place/2.47.50.o", &[]);
    assert_eq!(legends(&cfi), ["- SFrame, + CFI"]);
}

/// `module.s`: in `wrong_orc`, ORC's CFA is 16 bytes too high at 0x4; in `wrong_sframe`, SFrame's is 8 bytes too low at 0x7.
#[test]
fn root_causes_say_who_is_wrong() {
    let causes = causes(&scan(&corpus(), &["--against", "orc", "orc/module.o"]));
    let of = |wrong: Wrong| {
        let cause = causes.causes.iter().find(|cause| cause.wrong == Some(wrong)).expect("a cause");
        let example = cause.examples.first().expect("an example");
        (cause.shape.clone(), example.address.clone().expect("an address"), example.text())
    };
    let (shape, address, text) = of(Wrong::Cfi);
    assert_eq!((&*shape, &*address), ("CFA rsp+N, ORC rsp+N+16", "0x4"));
    assert!(
        text.starts_with("CFA is rsp+16, ORC says rsp+32; ORC is wrong: after 0x3 push"),
        "{text}"
    );
    let (shape, address, text) = of(Wrong::Sframe);
    assert_eq!((&*shape, &*address), ("CFA rsp+N, ORC rsp+N+8", "0x7"));
    assert!(text.contains("; SFrame is wrong: after 0x6 push"), "{text}");
    let mut written = Vec::new();
    let options = groups::Options { causes: 9, names: SymbolNames::Demangled };
    groups::write_text(&mut written, &causes, options).expect("memory");
    assert!(String::from_utf8(written).expect("UTF-8").contains(&text));
}

/// A report of the version before findings said which frame a walker takes, written by that version.
const PREVIOUS: &str = "tests/comparisons/previous/call-sites.ndjson";

#[test]
fn other_words_are_no_change() {
    let old = Path::new(env!("CARGO_MANIFEST_DIR")).join(PREVIOUS);
    let old = std::fs::read_to_string(old).expect("a report");
    let file = "golden/2.44/x86_64/stripped.so";
    let new = scan(&corpus(), &["--call-sites", file]);
    let messages = |report: &str| -> Vec<String> {
        let mut messages = Vec::new();
        let mut add = |record: &Record<'_>| {
            messages.extend(record.findings.iter().map(|finding| finding.message.to_string()));
        };
        report::read(report.as_bytes(), |record| add(record)).expect("a report");
        messages
    };
    assert_ne!(messages(&old), messages(&new), "other words");
    assert_eq!(findings(&compare(&old, &new), file), [""; 0]);
    assert!(compare(&old, &new).is_empty(), "{:?}", compare(&old, &new));
    // One of the two findings is fixed. They are about functions without a name, so that only their places tell them apart.
    let (kept, fixed) = without_the_first(&new);
    let changes = compare(&old, &kept);
    assert_eq!(findings(&changes, file), ["fixed wrong-frame-after-call -"]);
    let place =
        changes.files.iter().flat_map(|file| &file.findings).next().and_then(|of| of.old.as_ref());
    assert_eq!(place.and_then(|place| place.address.clone()), Some(fixed));
}

/// The report without its first finding about call sites, and that finding's address.
fn without_the_first(report: &str) -> (String, String) {
    const RULE: &str = "wrong-frame-after-call";
    let mut address = String::new();
    let lines = report.lines().map(|line| {
        let mut record: Value = serde_json::from_str(line).expect("JSON");
        if record["type"] == "file" {
            let findings = record["findings"].as_array_mut().expect("findings");
            let first = findings.iter().position(|of| of["rule"] == RULE).expect("a finding");
            let first = findings.remove(first);
            address = first["code"]["start"].as_str().expect("an address").to_owned();
            let counts = record["counts"].as_array_mut().expect("counts");
            let count = counts.iter_mut().find(|of| of["rule"] == RULE).expect("a count");
            count["count"] = 1.into();
        }
        format!("{record}\n")
    });
    let lines: String = lines.collect();
    (lines, address)
}

/// Without `--call-sites`, a scan does not look for findings about call sites, whatever else it compares with the code.
#[test]
fn findings_about_call_sites_are_gone_only_if_these_were_examined() {
    let file = "golden/2.44/x86_64/stripped.so";
    // Both scans look for lints.
    let old = scan(&corpus(), &["--pedantic", "--call-sites", file]);
    let new = scan(&corpus(), &["--pedantic", "--thorough", file]);
    let changes = compare(&old, &new);
    assert_eq!(findings(&changes, file), [""; 0]);
    let why = changes.files.iter().flat_map(|file| &file.undecided);
    assert!(why.clone().any(|why| why == "the new scan did not examine call sites"), "{changes:?}");
}

/// What a scan could not check is the same in another one whose program words it in another way.
#[test]
fn causes_say_which_checks_two_scans_could_not_make() {
    let scan = |undecided: &str| {
        format!(r#"{{"type":"file","path":"a","status":"checked","undecided":[{{{undecided}}}]}}"#)
    };
    let reasons = |old: &str, new: &str| {
        let changes = compare(&scan(old), &scan(new));
        changes.files.iter().flat_map(|file| file.undecided.clone()).collect::<Vec<_>>()
    };
    let layout = r#""cause":"layout","reason":"rows not checked""#;
    assert_eq!(reasons(layout, r#""cause":"layout","reason":"no rows""#), [""; 0]);
    // A version before 0.2 states no cause.
    assert_eq!(reasons(r#""reason":"rows not checked""#, layout), [""; 0]);
    let why =
        |scan: &str, reason: &str| format!("the {scan} scan could not check all of it: {reason}");
    assert_eq!(
        reasons(r#""reason":"no rows""#, layout),
        [why("old", "no rows"), why("new", "rows not checked")]
    );
    let header = r#""cause":"header","reason":"no rows""#;
    assert_eq!(reasons(header, layout), [why("old", "no rows"), why("new", "rows not checked")]);
    // Other parts of CFI may be left out.
    let limit = |reason: &str| format!(r#""cause":"cfi-limit","reason":"{reason}""#);
    assert_eq!(
        reasons(&limit("a loop"), &limit("cut off")),
        [why("old", "a loop"), why("new", "cut off")]
    );
    // A later version may know causes that this one does not.
    assert_eq!(
        reasons(r#""cause":"new-one","reason":"x""#, r#""cause":"other","reason":"y""#),
        [why("old", "x"), why("new", "y")]
    );
}
