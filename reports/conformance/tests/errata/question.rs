//! A question about a vector, and a reader's answer in a few words.

use std::fmt;
use std::str::FromStr;

use sframe_conformance::{Address, Answer, Frame, Opened, Reader, Vector};

/// What a reader is asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Question {
    /// Whether it reads the section.
    Open,
    /// The content of a row, by function and row.
    Row(usize, usize),
    /// The row that applies at an address.
    At(Address),
    /// The return addresses of the vector's first walk.
    Walk,
}

/// `open`, `row 0 1`, `0x401000` or `walk`.
impl FromStr for Question {
    type Err = String;

    fn from_str(text: &str) -> Result<Question, String> {
        let number = |text: &str| text.parse::<usize>().map_err(|error| error.to_string());
        match text.split(' ').collect::<Vec<_>>()[..] {
            ["open"] => Ok(Question::Open),
            ["walk"] => Ok(Question::Walk),
            ["row", function, row] => Ok(Question::Row(number(function)?, number(row)?)),
            _ => text.parse().map(Question::At).map_err(|_| format!("not a question: {text}")),
        }
    }
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Question::Open => f.write_str("The section"),
            Question::Row(function, row) => write!(f, "Row {row} of function {function}"),
            Question::At(pc) => write!(f, "Row at {pc}"),
            Question::Walk => f.write_str("Return addresses"),
        }
    }
}

impl Question {
    /// A reader's answer; `None` if it does not support the section or the question.
    pub(super) fn ask(&self, reader: &mut dyn Reader, vector: &Vector) -> Option<String> {
        let opened = match reader.open(&vector.section) {
            Answer::Given(opened) => opened,
            Answer::Refused(_) => return Some("refused".to_owned()),
            Answer::Lost(_) => return Some("crash".to_owned()),
            Answer::Unsupported(_) => return None,
        };
        match self {
            Question::Open => Some("read".to_owned()),
            Question::Row(function, row) => stored(&opened, *function, *row),
            Question::At(pc) => words(reader.lookup(pc.0), |found| match found {
                Some(found) => frame(&found.frame),
                None => "no row".to_owned(),
            }),
            Question::Walk => {
                let walk = vector.expect.walks.first()?;
                words(reader.walk(&walk.start), |walked| {
                    let pcs = walked.frames.iter().skip(1).map(|frame| frame.pc.to_string());
                    pcs.collect::<Vec<_>>().join(", ")
                })
            }
        }
    }
}

/// The answer in words. Many readers report an error if there is no row.
fn words<T>(answer: Answer<T>, text: impl Fn(T) -> String) -> Option<String> {
    match answer {
        Answer::Given(found) => Some(text(found)),
        Answer::Refused(_) => Some("no row".to_owned()),
        Answer::Lost(_) => Some("crash".to_owned()),
        Answer::Unsupported(_) => None,
    }
}

fn stored(opened: &Opened, function: usize, row: usize) -> Option<String> {
    let functions = opened.functions.as_ref()?;
    let rows = functions.get(function).and_then(|function| function.rows.as_ref());
    let row = rows.and_then(|rows| rows.get(row));
    Some(row.map_or("no row".to_owned(), |row| frame(&row.frame)))
}

/// The parts of a frame that a reader reports.
fn frame(found: &Frame) -> String {
    if found.cfa.is_none() {
        return "RA undefined".to_owned();
    }
    let parts = [
        found.cfa.map(|cfa| format!("CFA {cfa}")),
        found.ra.map(|ra| format!("RA {ra}")),
        found.fp.map(|fp| format!("FP {fp}")),
        found.signed.filter(|signed| *signed).map(|_| "signed".to_owned()),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}
