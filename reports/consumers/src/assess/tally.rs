//! Counts of a comparison, by byte and by function.

use std::collections::BTreeMap;

use sframe_validator::Abi;
use sframe_validator::unwind::{Frame, Named};

use super::specification::{Range, Specification};
use super::{Bytes, Example, Functions, Kind, kind_of};
use crate::answer::Answer;

/// What was seen of a function so far.
#[derive(Debug, Default)]
struct Seen {
    /// Whether the specification's row was found somewhere.
    found: bool,
    /// The worst fault, the first PC at which it happens, and the reason.
    worst: Option<(Kind, u64, String)>,
}

/// Why an answer is not the specification's.
enum Reason {
    Stop(&'static str),
    /// The row that was found, and the specification's.
    Rows(Frame, Frame),
}

impl Reason {
    fn text(&self, machine: Abi) -> String {
        match self {
            Reason::Stop(reason) => (*reason).to_owned(),
            Reason::Rows(found, expected) => differences(machine, found, expected),
        }
    }
}

/// The counts.
#[derive(Debug)]
pub(super) struct Tally {
    machine: Abi,
    bytes: Bytes,
    functions: BTreeMap<u32, Seen>,
}

/// Whether two rows lead to the same caller. Of outermost frames, nothing else is compared.
fn agree(expected: &Frame, found: &Frame) -> bool {
    expected == found || (expected.ra == found.ra && *expected == Frame::OUTERMOST)
}

/// The parts in which a row differs from the specification's.
fn differences(machine: Abi, found: &Frame, expected: &Frame) -> String {
    let mut parts = Vec::new();
    if found.cfa != expected.cfa {
        let (found, expected) = (Named(machine, found.cfa), Named(machine, expected.cfa));
        parts.push(format!("CFA is {found} instead of {expected}"));
    }
    for (name, found, expected) in [("RA", found.ra, expected.ra), ("FP", found.fp, expected.fp)] {
        if found != expected {
            let (found, expected) = (Named(machine, found), Named(machine, expected));
            parts.push(format!("{name} is {found} instead of {expected}"));
        }
    }
    match (found.ra_signed, expected.ra_signed) {
        (true, false) => parts.push("RA is taken as signed".to_owned()),
        (false, true) => parts.push("RA is not taken as signed".to_owned()),
        _ => {}
    }
    parts.join(", ")
}

/// How bad a fault is for a function.
const fn rank(kind: Kind) -> u8 {
    match kind {
        Kind::Crash => 5,
        Kind::DropSection => 4,
        Kind::Misread => 3,
        Kind::Undecided => 2,
        Kind::Lost => 1,
        Kind::Unreachable => 0,
    }
}

impl Tally {
    /// Without any PC.
    pub(super) fn new(machine: Abi) -> Tally {
        Tally { machine, bytes: Bytes::default(), functions: BTreeMap::new() }
    }

    /// Adds the PCs from `start` up to `end`, which have one answer.
    pub(super) fn add(&mut self, start: u64, end: u64, row: Option<Range>, answer: Answer) {
        let length = end - start;
        let Some(row) = row else {
            if answer.is_ok() {
                self.bytes.beyond = self.bytes.beyond.saturating_add(length);
            }
            return;
        };
        let (count, fault) = match answer {
            Ok(found) if agree(&row.frame, &found.frame) => (&mut self.bytes.same, None),
            Ok(found) => {
                let reason = Reason::Rows(found.frame, row.frame);
                (&mut self.bytes.other, Some((Kind::Misread, reason)))
            }
            Err(stop) => {
                let kind = kind_of(stop.kind);
                let count = match kind {
                    Kind::Crash => &mut self.bytes.crash,
                    Kind::Undecided => &mut self.bytes.undecided,
                    _ => &mut self.bytes.none,
                };
                (count, Some((kind, Reason::Stop(stop.reason))))
            }
        };
        *count = count.saturating_add(length);
        let seen = self.functions.entry(row.function).or_default();
        let Some((kind, reason)) = fault else {
            seen.found = true;
            return;
        };
        if seen.worst.as_ref().is_none_or(|(worst, _, _)| rank(*worst) < rank(kind)) {
            seen.worst = Some((kind, start, reason.text(self.machine)));
        }
    }

    /// The counts, and the first function of each kind in the order of the table.
    pub(super) fn finish(self, specification: &Specification) -> (Functions, Bytes, Vec<Example>) {
        let mut functions = Functions::default();
        let mut examples: BTreeMap<Kind, Example> = BTreeMap::new();
        for (function, start) in specification.functions() {
            let Some(seen) = self.functions.get(function) else { continue };
            let Some((kind, pc, reason)) = &seen.worst else {
                functions.found += 1;
                continue;
            };
            // If a row was found elsewhere, the search does arrive.
            let kind = if *kind == Kind::Unreachable && seen.found { Kind::Lost } else { *kind };
            *count(&mut functions, kind) += 1;
            examples.entry(kind).or_insert_with(|| Example {
                kind,
                function: *function,
                start: *start,
                pc: *pc,
                reason: reason.clone(),
            });
        }
        (functions, self.bytes, examples.into_values().collect())
    }
}

const fn count(functions: &mut Functions, kind: Kind) -> &mut u64 {
    match kind {
        Kind::Misread => &mut functions.misread,
        Kind::Unreachable => &mut functions.unreachable,
        Kind::Lost => &mut functions.lost,
        Kind::DropSection => &mut functions.drop_section,
        Kind::Crash => &mut functions.crash,
        Kind::Undecided => &mut functions.undecided,
    }
}
