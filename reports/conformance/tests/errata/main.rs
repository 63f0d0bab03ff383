//! `docs/ERRATA.md`: what the specification leaves open, and what readers make of it. The readers on this machine are
//! asked again, and their answers compared with the document. With `SFRAME_BLESS=1`, the test writes them.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod document;
mod question;
#[path = "../readers/mod.rs"]
mod readers;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;

use document::{Entry, Mark};
use question::Question;
use readers::Tester;
use readers::recorded::{CONSUMERS, Record};
use sframe_conformance::{Reader, Vector, vectors};
use sframe_corpus::repository;

/// The answers of all readers to a question, with the names of the readers in the order of the scores.
type Answers = Vec<(String, Vec<String>)>;

fn read() -> String {
    fs::read_to_string(repository().join("docs/ERRATA.md")).expect("the document")
}

fn by_name() -> BTreeMap<String, Vector> {
    vectors().into_iter().map(|vector| (vector.name.clone(), vector)).collect()
}

/// Programs that print sections and look up no PCs. Whether they crash where other readers look up a PC says nothing about
/// the row, and may depend on memory that they have not written.
const PRINTERS: [&str; 2] = ["readelf", "llvm-readobj"];

/// Readers: those at hand are asked, and of the others the answers are recorded.
enum Source {
    AtHand(Box<dyn Reader>),
    Recorded(Record),
}

impl Source {
    /// The answer to a question, one of this number; `None` if the reader does not support it.
    fn answer(&mut self, mark: &Mark, vector: &Vector, all: usize) -> Option<String> {
        match self {
            Source::AtHand(reader) => mark.question.ask(reader.as_mut(), vector),
            Source::Recorded(record) => record.answer(&mark.key(), all).cloned(),
        }
    }
}

/// All readers, with their names.
fn sources() -> Option<Vec<(String, Source)>> {
    let at_hand = |of: &Tester| (of.name().to_owned(), Source::AtHand(of.reader()));
    let mut sources: Vec<(String, Source)> = readers::all()?.iter().map(at_hand).collect();
    let recorded = CONSUMERS.iter().map(|of| (of.name.to_owned(), Source::Recorded(of.record())));
    sources.extend(recorded);
    sources.push(at_hand(&readers::literal()));
    Some(sources)
}

/// The readers' answers, grouped. A reader that does not support the question is left out.
fn answers(sources: &mut [(String, Source)], mark: &Mark, vector: &Vector, all: usize) -> Answers {
    let mut found = Answers::new();
    let is_about_pcs = matches!(mark.question, Question::At(_) | Question::Walk);
    let is_printer = |name: &str| PRINTERS.iter().any(|printer| name.starts_with(printer));
    for (name, source) in sources {
        if is_about_pcs && is_printer(name) {
            continue;
        }
        let Some(answer) = source.answer(mark, vector, all) else { continue };
        match found.iter_mut().find(|(other, _)| *other == answer) {
            Some((_, names)) => names.push(name.clone()),
            None => found.push((answer, vec![name.clone()])),
        }
    }
    found
}

fn table(mark: &Mark, answers: &Answers) -> String {
    let mut text = format!("| {} (`{}`) | Readers |\n|---|---|\n", mark.question, mark.vector);
    for (answer, names) in answers {
        writeln!(text, "| {answer} | {} |", names.join(", ")).expect("to memory");
    }
    text
}

/// Whether two answers contradict each other. A reader may report less of a frame than another one, but not that RA is
/// signed. No row, a refused section and a crash all give no frame, except where the question is about the section.
fn contradict(question: &Question, one: &str, other: &str) -> bool {
    let parts = |answer: &str| answer.split(", ").map(str::to_owned).collect::<BTreeSet<_>>();
    let gives_nothing = |answer: &str| ["no row", "refused", "crash"].contains(&answer);
    if *question != Question::Open && gives_nothing(one) && gives_nothing(other) {
        return false;
    }
    let (one, other) = (parts(one), parts(other));
    one.contains("signed") != other.contains("signed")
        || (!one.is_subset(&other) && !other.is_subset(&one))
}

fn differ(mark: &Mark, answers: &Answers) -> bool {
    let contradicts =
        |one: &str| answers.iter().any(|(other, _)| contradict(&mark.question, one, other));
    answers.iter().any(|(one, _)| contradicts(one))
}

#[test]
fn readers_answer_as_the_document_says() {
    let Some(mut sources) = sources() else { return };
    let (document, vectors) = (read(), by_name());
    let entries = document::entries(&document);
    let all = entries.iter().flat_map(|entry| &entry.marks);
    let all = all.map(Mark::key).collect::<BTreeSet<_>>().len();
    let mut wrong = Vec::new();
    let expected = document::filled(&document, |mark| {
        let found = answers(&mut sources, mark, &vectors[&mark.vector], all);
        let count = found.iter().map(|(_, names)| names.len()).sum::<usize>();
        if count < 2 || differ(mark, &found) != mark.differ {
            wrong.push(format!("{}: {found:?}", mark.vector));
        }
        table(mark, &found)
    });
    if std::env::var_os("SFRAME_BLESS").is_some() {
        fs::write(repository().join("docs/ERRATA.md"), &expected).expect("writable");
    }
    assert!(wrong.is_empty(), "two readers have to differ, or all to agree:\n{}", wrong.join("\n"));
    assert!(expected == read(), "run this test with SFRAME_BLESS=1 and read the changes");
}

/// What needs no tools: each entry is complete, and names vectors and rules that exist.
#[test]
fn every_entry_is_complete() {
    let (document, vectors) = (read(), by_name());
    let entries = document::entries(&document);
    assert!(entries.len() > 30, "{} entries", entries.len());
    for (index, entry) in entries.iter().enumerate() {
        let Entry { title, text, marks } = entry;
        assert!(title.starts_with(&format!("{}. ", index + 1)), "{title}: wrong number");
        for field in ["Clause", "Practice", "Decision", "Proposed wording"] {
            assert!(text.contains(&format!("**{field}:** ")), "{title}: no {field}");
        }
        assert!(!marks.is_empty(), "{title}: no vector");
        let is_about_agreement = marks.iter().all(|mark| !mark.differ);
        let says_why = text.contains("**Why readers agree:** ");
        assert_eq!(
            is_about_agreement, says_why,
            "{title}: two readers apart, or why there are none"
        );
        for mark in marks {
            assert!(vectors.contains_key(&mark.vector), "{title}: no vector {}", mark.vector);
        }
    }
}

/// At most a quarter of the entries are about what no two readers at hand answer differently.
#[test]
fn most_entries_show_readers_apart() {
    let document = read();
    let entries = document::entries(&document);
    let alike = entries.iter().filter(|entry| entry.marks.iter().all(|mark| !mark.differ));
    let alike: Vec<&str> = alike.map(|entry| entry.title).collect();
    assert!(4 * alike.len() <= entries.len(), "{alike:#?}");
}

#[test]
fn answers_that_report_less_do_not_differ() {
    let pc = Question::At(sframe_conformance::Address(0));
    let check = |question: &Question, one: &str, other: &str, expected: bool| {
        assert_eq!(contradict(question, one, other), expected, "{one} / {other}");
        assert_eq!(contradict(question, other, one), expected, "{other} / {one}");
    };
    check(&pc, "CFA r7+8, FP unchanged", "CFA r7+8, RA *(cfa-8), FP unchanged", false);
    check(&pc, "CFA r7+8, FP unchanged", "CFA r7+16, FP unchanged", true);
    check(&pc, "CFA r7+8", "no row", true);
    check(&pc, "refused", "no row", false);
    check(&pc, "CFA r7+8, RA *(cfa-8)", "CFA r7+8, RA *(cfa-8), signed", true);
    check(&Question::Open, "refused", "read", true);
}
