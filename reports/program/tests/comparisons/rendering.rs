//! Changes and causes as text, Markdown and JSON.

use std::fs;

use crate::scans::{compare, scan};
use serde_json::Value;
use sframe_corpus::{corpus, repository};
use sframe_history::changes::{self, Changes, Options, write_json, write_markdown, write_text};
use sframe_history::{Groups, groups, report};
use sframe_record::SymbolNames;

fn two_versions() -> (String, Changes) {
    let golden = corpus().join("golden");
    let of = |version: &str| scan(&golden, &[&format!("{version}/x86_64")]);
    let old = of("2.44");
    let changes = compare(&old, &of("2.47.50"));
    (old, changes)
}

fn written(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).expect("memory");
    String::from_utf8(out).expect("UTF-8")
}

/// Also compares the schemas with the files in the repository, which `SFRAME_BLESS=1` updates.
#[test]
fn json_matches_its_schema() {
    let (old, changes) = two_versions();
    let mut causes = Groups::default();
    report::read(old.as_bytes(), |record| causes.add(record)).expect("a report");
    let causes = causes.finish();
    let changes = written(|out| write_json(out, &changes));
    let causes = written(|out| groups::write_json(out, &causes));
    for (name, schema, text) in
        [("compare", changes::schema(), changes), ("causes", groups::schema(), causes)]
    {
        let path = repository().join(format!("reports/history/schema/{name}.schema.json"));
        let now = format!("{}\n", serde_json::to_string_pretty(&schema).expect("JSON"));
        if std::env::var_os("SFRAME_BLESS").is_some() {
            fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
            fs::write(&path, &now).expect("writable");
        }
        let known = fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(known, now, "{} is out of date: SFRAME_BLESS=1 writes it", path.display());
        let validator = jsonschema::validator_for(&serde_json::from_str(&known).unwrap()).unwrap();
        let value: Value = serde_json::from_str(&text).expect("JSON");
        let errors: Vec<String> = validator.iter_errors(&value).map(|e| e.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
        assert_eq!(value["format"], 1);
    }
}

#[test]
fn text_has_a_short_summary_and_shows_tables() {
    let (_, changes) = two_versions();
    let text = written(|out| write_text(out, &changes, &Options { details: usize::MAX }));
    let plain = without_colours(&text);
    let summary = plain.split("\n\n").next().unwrap();
    assert!(summary.lines().count() < 24, "{summary}");
    // The defect `return-elsewhere` (corpus/differences/README.md) was fixed after 2.44.
    let fixed = plain.find("fixed error[ra-mismatch]: RA is *(CFA-8), CFI says *(CFA-16)");
    let shown = fixed.and_then(|at| plain.get(at..)).expect("the finding");
    let lines: Vec<&str> = shown.lines().take(8).collect();
    assert!(lines[1].contains("at return_elsewhere"), "{shown}");
    assert!(
        lines.iter().any(|l| l.trim_start().starts_with("- 0x") && l.contains("*(CFA-8)")),
        "{shown}"
    );
    assert!(
        lines.iter().any(|l| l.trim_start().starts_with("+ 0x") && l.contains("*(CFA-16)")),
        "{shown}"
    );
    // A truncated list says that there are more.
    let cut = without_colours(&written(|out| write_text(out, &changes, &Options { details: 1 })));
    assert!(cut.contains("(--all shows each)") && cut.len() < plain.len());
}

fn without_colours(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_owned();
    first + &parts.map(|part| part.split_once('m').map_or("", |(_, rest)| rest)).collect::<String>()
}

#[test]
fn control_characters_and_markup_in_names_are_escaped() {
    const NAME: &str = "\\u001b[2J`` ` <img src=x> @all\\n# [x](y) | \\u202e";
    let line = |count: u32| {
        let finding = format!(
            r#"{{"rule":"{NAME}","severity":"error","group":"{NAME}","message":"{NAME}","field":{{"name":"{NAME}","value":"{NAME}"}},"function":{{"index":0,"size":1,"symbol":"{NAME}"}},"difference":{{"fields":["cfa"],"table":[{{"side":"sframe","start":"0x0","cfa":"{NAME}","ra":"```","fp":"{NAME}"}}]}}}}"#
        );
        let findings = if count == 0 { "" } else { &finding };
        format!(
            r#"{{"type":"file","path":"{NAME}","inside":"{NAME}","member":"{NAME}","package":{{"name":"{NAME}"}},"producers":[{{"kind":"{NAME}","name":"{NAME}","version":"{count}"}}],"status":"checked","counts":[{{"rule":"{NAME}","severity":"error","count":{count}}}],"findings":[{findings}],"undecided":[{{"reason":"{NAME}{count}"}}],"coverage":{{"functions":{{"both":{count}}},"losses":[{{"cause":"{NAME}","functions":{count},"examples":[{{"symbol":"{NAME}"}}]}}]}}}}"#
        )
    };
    let changes = compare(&line(0), &line(1));
    assert!(!changes.files.is_empty() && !changes.producers.is_empty());
    let markdown = written(|out| write_markdown(out, &changes, &Options::default()));
    let text = without_colours(&written(|out| write_text(out, &changes, &Options::default())));
    let mut causes = Groups::default();
    report::read(line(1).as_bytes(), |record| causes.add(record)).expect("a report");
    let options = groups::Options { causes: 9, names: SymbolNames::Demangled };
    let causes =
        without_colours(&written(|out| groups::write_text(out, &causes.finish(), options)));
    for text in [&markdown, &text, &causes] {
        assert!(text.contains("<img src=x>"), "the names are shown");
        let plain = |c: char| c == '\n' || !c.is_control() && c != '\u{202e}';
        assert!(text.chars().all(plain), "{text:?}");
        assert!(!text.lines().any(|line| line.starts_with("# [x]")), "{text}");
    }
    assert!(!outside_code(&markdown).contains(['<', '@', '[']), "{markdown}");
}

/// The text outside code spans and code blocks, according to CommonMark 6.1 and 4.5.
fn outside_code(markdown: &str) -> String {
    let mut out = String::new();
    let mut fence: Option<usize> = None;
    for line in markdown.lines() {
        let trimmed = line.trim_start();
        let ticks = trimmed.len() - trimmed.trim_start_matches('`').len();
        match fence {
            Some(length) if ticks >= length && trimmed.trim_start_matches('`').is_empty() => {
                fence = None
            }
            Some(_) => {}
            None if ticks >= 3 && !trimmed.trim_start_matches('`').contains('`') => {
                fence = Some(ticks)
            }
            None => out.push_str(&outside_spans(line)),
        }
    }
    out
}

fn outside_spans(mut line: &str) -> String {
    let mut out = String::new();
    while let Some(start) = line.find('`') {
        let (before, rest) = line.split_at(start);
        let run = rest.len() - rest.trim_start_matches('`').len();
        let inside = &rest[run..];
        let mut ends = inside.match_indices('`').map(|(at, _)| at).filter(|at| {
            let begins = *at == 0 || !inside[..*at].ends_with('`');
            let rest = &inside[*at..];
            begins && rest.len() - rest.trim_start_matches('`').len() == run
        });
        out.push_str(before);
        let Some(end) = ends.next() else { return out + rest };
        line = &inside[end + run..];
    }
    out + line
}

/// The width in a format string is limited to 65,535, and these values are longer.
#[test]
fn values_of_any_length_are_written() {
    let report = |cfa: &str| {
        let line = |side: &str, cfa: &str| serde_json::json!({"side": side, "start": "0x10", "cfa": cfa, "ra": "", "fp": ""});
        let finding = serde_json::json!({
            "rule": "cfa-mismatch", "severity": "error", "group": "comparison",
            "function": {"index": 0, "start": "0x10", "size": 4, "symbol": "f"},
            "difference": {"fields": ["cfa"], "table": [line("sframe", cfa), line("cfi", "sp+8")]},
        });
        let record = serde_json::json!({
            "type": "file", "path": "a", "status": "checked", "findings": [finding],
            "counts": [{"rule": "cfa-mismatch", "severity": "error", "count": 1}],
        });
        format!("{record}\n{}\n", serde_json::json!({"type": "summary", "format": 1}))
    };
    let long = "sp+".repeat(30_000);
    let changes = compare(&report("sp+16"), &report(&long));
    let options = Options { details: usize::MAX };
    for text in [
        written(|out| write_text(out, &changes, &options)),
        written(|out| write_markdown(out, &changes, &options)),
    ] {
        assert!(text.contains(&long) && text.contains("sp+16"), "{}", text.len());
        // The other lines are not padded to the same length.
        assert!(text.len() < 4 * long.len(), "{}", text.len());
    }
}
