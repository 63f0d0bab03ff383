//! Compares a reader's answers with the right ones.

use crate::frame::Frame;
use crate::reader::{Answer, Found, Function, Header, Lost, Opened, Reader, Row, Walked};
use crate::vector::{Expect, Kind, Lookup, Vector, Walk};

/// The number of vectors in a row without an answer in time after which a reader is given up.
pub const PATIENCE: usize = 3;

/// The longest message about a wrong answer, in characters. An answer may have megabytes.
const LONGEST_MESSAGE: usize = 2_000;

/// A reader's result for a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// Every answer that the reader gives is right or acceptable.
    Pass,
    /// At least one is wrong.
    Fail,
    /// The reader does not support the section, nothing of what is asked, or the walks that the vector is about.
    Unsupported,
    /// The reader was given up before: it did not answer [`PATIENCE`] vectors in a row in time.
    Untested,
}

/// What became of a vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The vector's name.
    pub name: String,
    /// The result.
    pub verdict: Verdict,
    /// The number of answers that were compared.
    pub checks: usize,
    /// The wrong ones, in words.
    pub wrong: Vec<String>,
    /// The answers where several are acceptable: the PC, and 0 for the one that the vector states first.
    pub choices: Vec<(u64, usize)>,
    /// Whether the reader refused the section.
    pub refused: bool,
    /// Whether the reader did not answer in time.
    pub late: bool,
}

impl Outcome {
    fn untested(vector: &Vector) -> Outcome {
        Outcome {
            name: vector.name.clone(),
            verdict: Verdict::Untested,
            checks: 0,
            wrong: Vec::new(),
            choices: Vec::new(),
            refused: false,
            late: false,
        }
    }
}

/// Tests a reader on vectors. After [`PATIENCE`] vectors in a row without an answer in time, the rest is
/// [untested](Verdict::Untested).
pub fn run(reader: &mut impl Reader, vectors: &[Vector]) -> Vec<Outcome> {
    let mut late = 0;
    let outcome = |vector| {
        if late >= PATIENCE {
            return Outcome::untested(vector);
        }
        let outcome = run_one(reader, vector);
        late = if outcome.late { late + 1 } else { 0 };
        outcome
    };
    vectors.iter().map(outcome).collect()
}

/// Tests a reader on one vector.
pub fn run_one(reader: &mut impl Reader, vector: &Vector) -> Outcome {
    let mut check = Check::default();
    match reader.open(&vector.section) {
        Answer::Unsupported(_) => {}
        Answer::Lost(lost) => check.lost(&lost),
        Answer::Refused(reason) => check.refusal(vector, &reason),
        Answer::Given(_) if vector.kind == Kind::Malformed => check.malformed(reader, vector),
        Answer::Given(opened) => check.sound(reader, &vector.expect, &opened),
    }
    let verdict = match check.wrong.as_slice() {
        [_, ..] => Verdict::Fail,
        [] if check.count == 0 || check.lacks_walks => Verdict::Unsupported,
        [] => Verdict::Pass,
    };
    Outcome {
        name: vector.name.clone(),
        verdict,
        checks: check.count,
        wrong: check.wrong,
        choices: check.choices,
        refused: check.refused,
        late: check.late,
    }
}

/// The answers compared so far.
#[derive(Default)]
struct Check {
    count: usize,
    wrong: Vec<String>,
    choices: Vec<(u64, usize)>,
    refused: bool,
    /// The vector has walks, and the reader does none.
    lacks_walks: bool,
    late: bool,
}

impl Check {
    /// Counts an answer, with a message if it is wrong.
    fn answer(&mut self, wrong: Option<String>) {
        self.count += 1;
        self.wrong.extend(wrong.map(cut));
    }

    fn lost(&mut self, lost: &Lost) {
        self.late = lost.is_late();
        self.answer(Some(lost.to_string()));
    }

    fn refusal(&mut self, vector: &Vector, reason: &str) {
        self.refused = true;
        let may = vector.kind == Kind::Malformed || vector.expect.may_refuse;
        self.answer((!may).then(|| format!("refused: {reason}")));
    }

    /// A reader that decodes on demand may refuse a malformed section when it looks up a PC.
    fn malformed(&mut self, reader: &mut impl Reader, vector: &Vector) {
        for pc in &vector.expect.refuse {
            match reader.lookup(pc.0) {
                Answer::Given(None) | Answer::Refused(_) => self.answer(None),
                Answer::Given(Some(found)) => {
                    self.answer(Some(format!("accepted: at {pc}, {}", json(&found.frame))));
                }
                Answer::Unsupported(_) => self.answer(Some("accepted".to_owned())),
                Answer::Lost(lost) => return self.lost(&lost),
            }
        }
    }

    fn sound(&mut self, reader: &mut impl Reader, expect: &Expect, opened: &Opened) {
        if let (Some(right), Some(found)) = (&expect.header, &opened.header) {
            self.header(right, found);
        }
        if let (Some(right), Some(found)) = (&expect.functions, &opened.functions) {
            self.functions(right, found);
        }
        for lookup in &expect.lookups {
            match reader.lookup(lookup.pc.0) {
                Answer::Unsupported(_) => break,
                Answer::Lost(lost) => return self.lost(&lost),
                Answer::Given(found) => self.lookup(lookup, found),
                // Many readers report an error if there is no row.
                Answer::Refused(_) => self.lookup(lookup, None),
            }
        }
        for walk in &expect.walks {
            match reader.walk(&walk.start) {
                Answer::Unsupported(_) => {
                    self.lacks_walks = true;
                    break;
                }
                Answer::Lost(lost) => return self.lost(&lost),
                Answer::Given(walked) => self.walk(walk, &walked),
                Answer::Refused(reason) => {
                    self.answer(Some(format!("walk ({}): refused: {reason}", walk.title)));
                }
            }
        }
    }

    fn field<T: PartialEq + serde::Serialize>(
        &mut self,
        name: &str,
        right: Option<&T>,
        found: Option<&T>,
    ) {
        if let (Some(right), Some(found)) = (right, found) {
            let wrong = || format!("{name}: {}, expected {}", json(found), json(right));
            self.answer((right != found).then(wrong));
        }
    }

    fn header(&mut self, right: &Header, found: &Header) {
        macro_rules! fields {
            ($($name:ident),*) => {
                $(self.field(
                    concat!("header: ", stringify!($name)),
                    right.$name.as_ref(),
                    found.$name.as_ref(),
                );)*
            };
        }
        fields!(version, flags, abi_arch, cfa_fixed_fp_offset, cfa_fixed_ra_offset, auxhdr_len);
        fields!(num_fdes, num_fres, fre_len, fdeoff, freoff);
    }

    fn functions(&mut self, right: &[Function], found: &[Function]) {
        let (count, expected) = (found.len(), right.len());
        let wrong = || format!("{count} functions, expected {expected}");
        self.answer((count != expected).then(wrong));
        for (index, (right, found)) in right.iter().zip(found).enumerate() {
            macro_rules! fields {
                ($($name:ident),*) => {
                    $(self.field(
                        &format!("function {index}: {}", stringify!($name)),
                        right.$name.as_ref(),
                        found.$name.as_ref(),
                    );)*
                };
            }
            fields!(start, size, repeat, fde_type, signal, key);
            if let (Some(right), Some(found)) = (&right.rows, &found.rows) {
                self.rows(index, right, found);
            }
        }
    }

    fn rows(&mut self, function: usize, right: &[Row], found: &[Row]) {
        let (count, expected) = (found.len(), right.len());
        let wrong = || format!("function {function}: {count} rows, expected {expected}");
        self.answer((count != expected).then(wrong));
        for (index, (right, found)) in right.iter().zip(found).enumerate() {
            let is_right = right.start == found.start && right.frame.agrees(&found.frame);
            let wrong = || {
                let (found, right) = (json(found), json(right));
                format!("function {function}, row {index}: {found}, expected {right}")
            };
            self.answer((!is_right).then(wrong));
        }
    }

    fn lookup(&mut self, right: &Lookup, found: Option<Found>) {
        let agrees = |expected: &Option<Frame>| match (expected, &found) {
            (None, None) => true,
            (Some(expected), Some(found)) => expected.agrees(&found.frame),
            _ => false,
        };
        let choice = std::iter::once(&right.frame).chain(&right.or).position(agrees);
        let function = found.and_then(|found| found.function);
        let is_other = function.is_some() && function != right.function && right.or.is_empty();
        let wrong = || {
            let (found, frame) = (json(&found), json(&right.frame));
            format!("lookup of {} ({}): {found}, expected {frame}", right.pc, right.why)
        };
        self.answer((choice.is_none() || is_other).then(wrong));
        if let (Some(choice), false) = (choice, right.or.is_empty()) {
            self.choices.push((right.pc.0, choice));
        }
    }

    fn walk(&mut self, right: &Walk, found: &Walked) {
        let mut acceptable = std::iter::once(&right.expect).chain(&right.or);
        let choice = acceptable.position(|expected| same_walk(expected, found));
        let wrong = || {
            let (found, frames) = (json(found), json(&right.expect));
            format!("walk ({}): {found}, expected {frames}", right.title)
        };
        self.answer(choice.is_none().then(wrong));
        if let (Some(choice), false) = (choice, right.or.is_empty()) {
            self.choices.push((right.start.pc.0, choice));
        }
    }
}

fn same_walk(right: &Walked, found: &Walked) -> bool {
    right.frames.len() == found.frames.len()
        && found.end.is_none_or(|end| Some(end) == right.end)
        && right.frames.iter().zip(&found.frames).all(|(right, found)| {
            right.pc == found.pc
                && found.sp.is_none_or(|sp| Some(sp) == right.sp)
                && (found.fp.is_none() || right.fp.is_none() || found.fp == right.fp)
        })
}

/// The start of a message that is too long.
fn cut(mut message: String) -> String {
    if let Some((end, _)) = message.char_indices().nth(LONGEST_MESSAGE) {
        message.truncate(end);
        message.push_str("...");
    }
    // The message may have been a part of a long answer.
    message.shrink_to_fit();
    message
}

/// A value as the protocol writes it.
fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|error| error.to_string())
}
