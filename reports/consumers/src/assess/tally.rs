//! Counts of a comparison, by byte and by function.

use std::collections::BTreeMap;

use sframe_validator::Abi;
use sframe_validator::unwind::{Frame, Named};

use super::specification::{Says, Specification};
use super::{Bytes, Example, Functions, Kind, Verdict, kind_of};
use crate::answer::{Answer, Found, Stop, StopKind};
use crate::page::Page;

/// The specification cannot read the row, so that the consumer's answer can be neither right nor wrong.
const WITHOUT_TRUTH: Stop =
    Stop::undecided("the specification cannot read the function or its row");

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
    /// Whether the consumer's errors are reports.
    reports: bool,
    /// Whether it reports an error where the specification cannot read the section either.
    has_reported: bool,
}

/// PCs of a function with one answer.
#[derive(Clone, Copy, Debug)]
struct Pcs {
    first: u64,
    count: u64,
    function: u32,
}

/// The results of a comparison.
pub(super) struct Counts {
    pub(super) functions: Functions,
    pub(super) bytes: Bytes,
    /// The first function of each kind, in the order of the table.
    pub(super) examples: Vec<Example>,
    has_reported: bool,
}

impl Counts {
    /// The worst that happens at any PC.
    pub(super) const fn verdict(&self) -> Verdict {
        let bytes = &self.bytes;
        if bytes.crash > 0 {
            Verdict::Crash
        } else if bytes.other > 0 || bytes.beyond > 0 {
            Verdict::Misread
        } else if bytes.undecided > 0 {
            Verdict::Undecided
        } else if self.has_reported {
            Verdict::Reject
        } else if bytes.none > 0 && bytes.same == 0 {
            Verdict::Ignore
        } else if bytes.none > 0 || self.functions.drop_section > 0 {
            Verdict::Part
        } else {
            Verdict::Accept
        }
    }
}

/// Whether a stop counts whatever the specification says.
const fn is_decided(kind: StopKind) -> bool {
    matches!(kind, StopKind::Crash | StopKind::DropsSection | StopKind::Undecided)
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
    pub(super) fn new(machine: Abi, page: &Page) -> Tally {
        let (bytes, functions) = (Bytes::default(), BTreeMap::new());
        let reports = page.reports_errors;
        Tally { machine, bytes, functions, beyond: None, reports, has_reported: false }
    }

    /// Adds PCs with one answer, of which this is the first.
    pub(super) fn add(&mut self, first: u64, count: u64, at: Option<(u32, Says)>, answer: Answer) {
        let pcs = |function| Pcs { first, count, function };
        match at {
            Some((function, Says::Row(row))) => self.compare(pcs(function), &row, answer),
            Some((function, Says::Unreadable)) => {
                let stop = self.without_truth(answer);
                self.stop(pcs(function), stop);
            }
            Some((_, Says::Nothing)) | None => {
                if let Ok(found) = answer {
                    self.bytes.beyond = self.bytes.beyond.saturating_add(count);
                    self.beyond.get_or_insert((first, found));
                }
            }
        }
    }

    /// Adds PCs that a function may or may not cover.
    pub(super) fn add_unknown(&mut self, count: u64, answer: Answer) {
        let bytes = match answer.map_err(|stop| stop.kind) {
            Err(StopKind::Crash) => &mut self.bytes.crash,
            Ok(_) | Err(StopKind::Undecided) => &mut self.bytes.undecided,
            Err(StopKind::Error) => {
                self.has_reported |= self.reports;
                return;
            }
            Err(_) => return,
        };
        *bytes = bytes.saturating_add(count);
    }

    fn compare(&mut self, pcs: Pcs, row: &Frame, answer: Answer) {
        match answer {
            Ok(found) if agree(row, &found.frame) => {
                self.bytes.same = self.bytes.same.saturating_add(pcs.count);
                self.functions.entry(pcs.function).or_default().found = true;
            }
            Ok(found) => {
                self.bytes.other = self.bytes.other.saturating_add(pcs.count);
                self.fault(pcs, Kind::Misread, Reason::Rows(found.frame, *row));
            }
            Err(stop) => self.stop(pcs, stop),
        }
    }

    /// What counts where the specification cannot read the function. A crash is one there, too, and so is an error that is
    /// reported, or for which the section is dropped.
    fn without_truth(&mut self, answer: Answer) -> Stop {
        match answer {
            Err(stop) if is_decided(stop.kind) => stop,
            Err(stop) if stop.kind == StopKind::Error && self.reports => {
                self.has_reported = true;
                stop
            }
            Ok(_) | Err(_) => WITHOUT_TRUTH,
        }
    }

    fn stop(&mut self, pcs: Pcs, stop: Stop) {
        let kind = kind_of(stop.kind);
        let bytes = match kind {
            Kind::Crash => &mut self.bytes.crash,
            Kind::Undecided => &mut self.bytes.undecided,
            _ => &mut self.bytes.none,
        };
        *bytes = bytes.saturating_add(pcs.count);
        self.fault(pcs, kind, Reason::Stop(stop.reason));
    }

    fn fault(&mut self, pcs: Pcs, kind: Kind, reason: Reason) {
        let seen = self.functions.entry(pcs.function).or_default();
        seen.faults.entry(kind).or_insert((pcs.first, reason));
    }

    /// The results.
    pub(super) fn finish(mut self, specification: &Specification) -> Counts {
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
        Counts { functions, bytes: self.bytes, examples, has_reported: self.has_reported }
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
