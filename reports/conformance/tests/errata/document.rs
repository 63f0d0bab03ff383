//! The parts of `docs/ERRATA.md`: entries, and in them the places of the readers' answers.

use crate::question::Question;

const END: &str = "<!-- end -->";

/// An entry: a heading of the third level, and the text up to the next heading.
pub(super) struct Entry<'a> {
    pub(super) title: &'a str,
    pub(super) text: &'a str,
    pub(super) marks: Vec<Mark>,
}

/// A vector and a question to readers: `<!-- answers: VECTOR | QUESTION -->` if readers differ, or `agreement` if not.
#[derive(Debug)]
pub(super) struct Mark {
    pub(super) vector: String,
    pub(super) question: Question,
    pub(super) differ: bool,
}

impl Mark {
    /// The vector and the question, in records.
    pub(super) fn key(&self) -> String {
        format!("{} | {}", self.vector, self.question)
    }

    fn parse(line: &str) -> Option<Mark> {
        let inner = line.strip_prefix("<!-- ")?.strip_suffix(" -->")?;
        let (kind, rest) = inner.split_once(": ")?;
        let (vector, question) = rest.split_once(" | ")?;
        let differ = match kind {
            "answers" => true,
            "agreement" => false,
            _ => return None,
        };
        let question = question.parse().unwrap_or_else(|error| panic!("{line}: {error}"));
        Some(Mark { vector: vector.to_owned(), question, differ })
    }
}

pub(super) fn entries(document: &str) -> Vec<Entry<'_>> {
    let parts = document.split("\n### ").skip(1);
    let entries = parts.map(|part| {
        let (title, text) = part.split_once('\n').unwrap_or((part, ""));
        Entry { title, text, marks: text.lines().filter_map(Mark::parse).collect() }
    });
    entries.collect()
}

/// The document with other tables after the marks.
pub(super) fn filled(document: &str, mut table: impl FnMut(&Mark) -> String) -> String {
    let mut text = String::new();
    let mut lines = document.lines();
    while let Some(line) = lines.next() {
        text.push_str(line);
        text.push('\n');
        if let Some(mark) = Mark::parse(line) {
            let old = lines.by_ref().take_while(|line| *line != END).count();
            assert!(old < 20, "{}: no {END}", mark.vector);
            text.push_str(&format!("\n{}\n{END}\n", table(&mark)));
        }
    }
    text
}
