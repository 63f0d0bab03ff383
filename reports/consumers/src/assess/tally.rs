//! Counts of a comparison, by byte and by function.

use std::collections::BTreeMap;

use sframe_validator::Abi;
use sframe_validator::unwind::{Frame, Named};

use super::specification::{Range, Specification};
use super::{Bytes, Example, Functions, Kind, kind_of};
use crate::answer::{Answer, Found};

/// What was seen of a function so far.
#[derive(Debug, Default)]
struct Seen {
    /// Whether the specification's row was found somewhere.
    found: bool,
    /// The first PC of each kind of fault, and the reason.
    faults: BTreeMap<Kind, (u64, Reason)>,
}

impl Seen {
    /// If the search arrives elsewhere in the function, the function is not unreachable: PCs without a row are lost.
    fn settle(&mut self) {
        let arrives = self.found || self.faults.len() > 1;
        if arrives && let Some((pc, reason)) = self.faults.remove(&Kind::Unreachable) {
            let lost = self.faults.entry(Kind::Lost).or_insert((pc, reason));
            if pc < lost.0 {
                *lost = (pc, reason);
            }
        }
    }

    /// The worst kind of fault.
    fn worst(&self) -> Option<Kind> {
        self.faults.keys().copied().max_by_key(|kind| rank(*kind))
    }
}

/// Why an answer is not the specification's.
#[derive(Clone, Copy, Debug)]
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
    /// The first PC at which there is a row where the specification has none, and the answer.
    beyond: Option<(u64, Found)>,
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
        Kind::Unreachable | Kind::Beyond => 0,
    }
}

impl Tally {
    /// Without any PC.
    pub(super) fn new(machine: Abi) -> Tally {
        Tally { machine, bytes: Bytes::default(), functions: BTreeMap::new(), beyond: None }
    }

    /// Adds the PCs from `start` up to `end`, which have one answer.
    pub(super) fn add(&mut self, start: u64, end: u64, row: Option<Range>, answer: Answer) {
        let length = end - start;
        let Some(row) = row else {
            if let Ok(found) = answer {
                self.bytes.beyond = self.bytes.beyond.saturating_add(length);
                self.beyond.get_or_insert((start, found));
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
        match fault {
            None => seen.found = true,
            Some((kind, reason)) => {
                seen.faults.entry(kind).or_insert((start, reason));
            }
        }
    }

    /// The counts, and the first function of each kind in the order of the table.
    pub(super) fn finish(
        mut self,
        specification: &Specification,
    ) -> (Functions, Bytes, Vec<Example>) {
        let mut functions = Functions::default();
        let mut examples: BTreeMap<Kind, Example> = BTreeMap::new();
        for &(function, start) in specification.functions() {
            let Some(seen) = self.functions.get_mut(&function) else { continue };
            seen.settle();
            match seen.worst().and_then(|kind| count(&mut functions, kind)) {
                Some(count) => *count += 1,
                None => functions.found += 1,
            }
            for (&kind, &(pc, reason)) in &seen.faults {
                let reason = || reason.text(self.machine);
                let example = || Example { kind, function, start, pc, reason: reason() };
                examples.entry(kind).or_insert_with(example);
            }
        }
        let mut examples: Vec<Example> = examples.into_values().collect();
        examples.extend(self.beyond(specification));
        (functions, self.bytes, examples)
    }

    /// The first row where the specification has none. Its function is the one that the consumer finds.
    fn beyond(&self, specification: &Specification) -> Option<Example> {
        let (pc, Found { function, start, frame }) = self.beyond?;
        let functions = specification.functions();
        let known = functions.binary_search_by_key(&function, |(index, _)| *index).ok();
        let start = known.and_then(|place| functions.get(place)).map_or(start, |(_, start)| *start);
        let cfa = Named(self.machine, frame.cfa);
        let reason = format!("CFA is {cfa}, and the specification has no row");
        Some(Example { kind: Kind::Beyond, function, start, pc, reason })
    }
}

/// The count of functions to which this happens.
const fn count(functions: &mut Functions, kind: Kind) -> Option<&mut u64> {
    Some(match kind {
        Kind::Misread => &mut functions.misread,
        Kind::Unreachable => &mut functions.unreachable,
        Kind::Lost => &mut functions.lost,
        Kind::DropSection => &mut functions.drop_section,
        Kind::Crash => &mut functions.crash,
        Kind::Undecided => &mut functions.undecided,
        Kind::Beyond => return None,
    })
}
