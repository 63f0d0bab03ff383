//! The records of readers in `corpus/conformance/recorded`: the consumers' own code is asked again, where its programs are.
//! With `SFRAME_BLESS=1`, the test writes the records.
//!
//! `corpus/consumers/build` makes the programs of packaged consumers. `SFRAME_CONSUMERS` is a folder with the others.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

#[allow(dead_code, reason = "this program uses a part")]
#[path = "../errata/document.rs"]
mod document;
#[path = "../errata/question.rs"]
mod question;
#[path = "../readers/mod.rs"]
mod readers;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use readers::recorded::{CONSUMERS, Consumer, Record};
use sframe_conformance::{Command, Vector, run, vectors};
use sframe_corpus::{repository, tools};

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// The consumer's program, if it is here.
fn program(consumer: &Consumer) -> Option<PathBuf> {
    let public = std::env::var_os("SFRAME_CONSUMERS").map(PathBuf::from);
    let built = tools::consumers();
    let folder = if consumer.is_packaged { built } else { public? };
    Some(folder.join(consumer.program)).filter(|path| path.exists())
}

/// The answers to all questions of `docs/ERRATA.md`.
fn answers(reader: &mut Command, vectors: &[Vector]) -> BTreeMap<String, Option<String>> {
    let text = fs::read_to_string(repository().join("docs/ERRATA.md")).expect("the document");
    let entries = document::entries(&text);
    let marks = entries.iter().flat_map(|entry| &entry.marks);
    let answer = |mark: &document::Mark| {
        let vector = vectors.iter().find(|vector| vector.name == mark.vector).expect("a vector");
        (mark.key(), mark.question.ask(reader, vector))
    };
    marks.map(answer).collect()
}

fn asked(consumer: &Consumer, program: PathBuf, vectors: &[Vector]) -> Record {
    let words = vec![program.display().to_string(), "--score".to_owned()];
    let mut reader = Command::new(words, PATIENCE);
    let outcomes = run(&mut reader, vectors);
    consumer.recorded(&outcomes, &answers(&mut reader, vectors))
}

#[test]
fn records_are_what_the_code_answers() {
    let vectors = vectors();
    for consumer in &CONSUMERS {
        let Some(program) = program(consumer) else {
            tools::skipped::note(
                &format!("the code of {}", consumer.program),
                "its answers are recorded",
            );
            continue;
        };
        let found = asked(consumer, program, &vectors);
        if std::env::var_os("SFRAME_BLESS").is_some() {
            let text = serde_json::to_string_pretty(&found).expect("JSON") + "\n";
            fs::write(consumer.path(), text).expect("writable");
        }
        let (name, recorded) = (consumer.program, consumer.record());
        assert!(found == recorded, "{name} answers otherwise: SFRAME_BLESS=1 writes the record");
    }
}

/// The counts of a row such as ``| `mold-3` | 220 | 40 | 639 |``.
fn counts(line: &str) -> Option<(&str, [usize; 3])> {
    let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
    let [name, pass, fail, unsupported] = cells[..] else { return None };
    let number = |cell: &str| cell.parse::<usize>().ok();
    let counts = [number(pass)?, number(fail)?, number(unsupported)?];
    Some((name.trim_matches('`'), counts))
}

#[test]
fn counts_in_the_readme_are_those_of_the_records() {
    let path = repository().join("corpus/consumers/README.md");
    let text = fs::read_to_string(path).expect("the document");
    let all = vectors().len();
    let rows: BTreeMap<&str, [usize; 3]> = text.lines().filter_map(counts).collect();
    assert!(rows.len() > CONSUMERS.len(), "{rows:?}");
    for (name, [pass, fail, unsupported]) in &rows {
        assert_eq!(pass + fail + unsupported, all, "{name}: not as many as there are vectors");
    }
    for consumer in &CONSUMERS {
        assert_eq!(rows[consumer.program], consumer.record().counts(), "{}", consumer.program);
    }
}
