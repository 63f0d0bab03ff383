//! A profile's answers compared with those of the consumer's own code.

use std::collections::BTreeMap;
use std::path::PathBuf;

use sframe_conformance::{Address, Base, Frame, Recovery, Rule, Section};
use sframe_consumers::{Answer, Consumer, Input, Opening, StopKind};
use sframe_validator::section::Function;
use sframe_validator::unwind::{self, Cfa};
use sframe_validator::{Abi, Placement, Section as StoredSection};

use crate::inputs::{Sample, machine_name};
use crate::program::{Answered, Listed, Question, Reply, ask};

/// What a profile expects of a section.
struct Expected {
    opening: Outcome,
    answers: Vec<Outcome>,
    /// Whether the consumer ends, or may, when it is given the section: it crashes, or the link fails.
    ends: bool,
}

/// What a profile expects of one request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Outcome {
    Opened,
    Refused,
    Found(Frame),
    Nothing,
    /// The lookup may give the row, but the walker does not use it.
    Unused,
    Crashed,
    Undecided,
}

/// Counts of a comparison.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) sections: u64,
    /// Sections that were not asked because they should end the program, or may.
    pub(crate) spared: u64,
    pub(crate) accepted: u64,
    pub(crate) lookups: u64,
    pub(crate) rows: u64,
    pub(crate) crashes: u64,
    /// Crashes that AArch64 would not have, because the program divides by zero.
    pub(crate) host_crashes: u64,
    /// Rows that agree as far as libsframe's interface tells, or that have no meaning to our reader of what mold wrote.
    pub(crate) ambiguous: u64,
    /// Where the profile says that memory outside the section decides, and how often the program crashed there.
    pub(crate) undecided: u64,
    pub(crate) undecided_crashes: u64,
    /// Disagreements, by kind, with examples.
    pub(crate) disagreements: BTreeMap<String, (u64, String)>,
}

impl Counts {
    pub(crate) fn disagreeing(&self) -> u64 {
        self.disagreements.values().map(|(count, _)| count).sum()
    }

    pub(crate) fn add(&mut self, other: Counts) {
        self.sections += other.sections;
        self.spared += other.spared;
        self.accepted += other.accepted;
        self.lookups += other.lookups;
        self.rows += other.rows;
        self.crashes += other.crashes;
        self.undecided += other.undecided;
        self.ambiguous += other.ambiguous;
        self.host_crashes += other.host_crashes;
        self.undecided_crashes += other.undecided_crashes;
        for (kind, (count, example)) in other.disagreements {
            self.disagreements.entry(kind).or_insert((0, example)).0 += count;
        }
    }

    fn disagree(&mut self, kind: String, example: impl FnOnce() -> String) {
        self.disagreements.entry(kind).or_insert_with(|| (0, example())).0 += 1;
    }
}

fn outcome(answer: Answer) -> Outcome {
    match answer {
        Ok(found) => Outcome::Found(frame(&found.frame)),
        Err(stop) => match stop.kind {
            StopKind::Crash => Outcome::Crashed,
            StopKind::Undecided => Outcome::Undecided,
            StopKind::EndsWalk => Outcome::Unused,
            StopKind::Nothing | StopKind::Error | StopKind::DropsSection => Outcome::Nothing,
        },
    }
}

pub(crate) fn frame(found: &unwind::Frame) -> Frame {
    let cfa = match found.cfa {
        Cfa::RegisterOffset { register, offset } => Some((register, offset, false)),
        Cfa::Dereference { register, offset } => Some((register, offset, true)),
        Cfa::DereferencePlus { .. } | Cfa::Expression(_) | Cfa::Undefined => None,
    };
    let cfa =
        cfa.map(|(register, offset, load)| Rule { base: Base::Register(register.0), offset, load });
    let (ra, fp) = (Some(recovery(found.ra)), Some(recovery(found.fp)));
    if found.ra == unwind::Recovery::Undefined {
        return Frame::OUTERMOST;
    }
    Frame { cfa, ra, fp, signed: Some(found.ra_signed) }
}

fn recovery(found: unwind::Recovery) -> Recovery {
    use unwind::Recovery as Stored;
    let rule = |base, offset, load| Recovery::Rule(Rule { base, offset, load });
    match found {
        Stored::Unchanged => Recovery::Unchanged,
        Stored::AtCfa(offset) => rule(Base::Cfa, offset, true),
        Stored::CfaOffset(offset) => rule(Base::Cfa, offset, false),
        Stored::AtRegister { register, offset } => rule(Base::Register(register.0), offset, true),
        Stored::RegisterOffset { register, offset } => {
            rule(Base::Register(register.0), offset, false)
        }
        Stored::Undefined | Stored::AtExpression(_) | Stored::Expression(_) => Recovery::Undefined,
    }
}

pub(crate) fn agrees(expected: &Outcome, reply: &Reply) -> bool {
    match (expected, reply) {
        (_, Reply::Unsupported) | (Outcome::Undecided, _) | (Outcome::Opened, Reply::Opened(_)) => {
            true
        }
        (Outcome::Refused, Reply::Refused) | (Outcome::Crashed, Reply::Crashed) => true,
        (Outcome::Nothing | Outcome::Unused, Reply::Nothing | Reply::Refused) => true,
        (Outcome::Unused, Reply::Found(_)) => true,
        // A library returns the words. A CFA relative to itself is the caller's problem.
        (Outcome::Nothing, Reply::Found(Frame { cfa: Some(rule), .. })) => rule.base == Base::Cfa,
        (Outcome::Found(expected), Reply::Found(found)) => {
            expected.cfa == found.cfa
                && (found.ra.is_none() || expected.ra == found.ra)
                && (found.fp.is_none()
                    || expected.fp == found.fp
                    || expected.ra == Some(Recovery::Undefined))
                && (found.signed.is_none() || expected.signed == found.signed)
        }
        _ => false,
    }
}

/// The PCs to look up: those at which either the profile's or the specification's answer changes, and their neighbours.
fn places(boundaries: Vec<u64>, most: usize, seed: usize) -> Vec<u64> {
    let mut places: Vec<u64> = boundaries
        .into_iter()
        .flat_map(|place| [place.wrapping_sub(1), place, place.wrapping_add(1)])
        .collect();
    places.sort_unstable();
    places.dedup();
    if places.len() <= most {
        return places;
    }
    // Spread over the whole section, from a place that differs from section to section.
    let step = places.len() / most + 1;
    places.into_iter().skip(seed % step).step_by(step).collect()
}

/// What the profile says of a section, and of PCs in it.
fn expect(
    consumer: &dyn Consumer,
    input: &Input<'_>,
    most: usize,
    seed: usize,
) -> (Expected, Vec<u64>) {
    let opening = consumer.open(input);
    let ends = matches!(opening, Opening::Crash(_) | Opening::Undecided(_))
        || matches!(opening, Opening::Reject(_)) && consumer.page().name == "mold-3";
    let (opening, answers, pcs) = match opening {
        Opening::Accept(reader) => {
            let pcs = places(reader.places().list, most, seed);
            let answers = pcs.iter().map(|pc| outcome(reader.lookup(*pc))).collect();
            (Outcome::Opened, answers, pcs)
        }
        Opening::Ignore(_) | Opening::Reject(_) => (Outcome::Refused, Vec::new(), Vec::new()),
        Opening::Crash(_) => (Outcome::Crashed, Vec::new(), Vec::new()),
        Opening::Undecided(_) => (Outcome::Undecided, Vec::new(), Vec::new()),
    };
    (Expected { opening, answers, ends }, pcs)
}

/// How much a program is asked.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    /// The largest number of lookups in a section.
    pub(crate) most: usize,
    /// Of how many questions that should end the program, or may, only one is asked; 0 if none is. Starting it again takes more
    /// time than a hundred answers.
    pub(crate) one_in: usize,
}

/// Leaves out what should end the program, or may. Returns whether the section is asked at all.
fn spare(expected: &mut Expected, pcs: &mut Vec<u64>) -> bool {
    let is_safe = |outcome: &Outcome| !matches!(outcome, Outcome::Crashed | Outcome::Undecided);
    let kept: Vec<bool> = expected.answers.iter().map(is_safe).collect();
    let mut keep = kept.iter();
    pcs.retain(|_| keep.next().is_some_and(|kept| *kept));
    expected.answers.retain(is_safe);
    !expected.ends
}

/// Asks about a section, and PCs in it.
pub(crate) fn question(sample: &Sample, pcs: Vec<u64>) -> Question {
    let is_big = matches!(sample.machine, Abi::S390x | Abi::Aarch64Big);
    let section = Section {
        machine: machine_name(sample.machine).to_owned(),
        byte_order: if is_big { "big" } else { "little" }.to_owned(),
        address: Address(sample.address),
        hex: sample.bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
    };
    Question { section, pcs }
}

/// Compares a profile with a program on sections.
pub(crate) fn compare(
    consumer: &dyn Consumer,
    program: &PathBuf,
    samples: &[Sample],
    plan: Plan,
) -> Counts {
    let mut counts = Counts::default();
    let (mut questions, mut lists) = (Vec::new(), Vec::new());
    let mut expectations = Vec::new();
    for (seed, sample) in samples.iter().enumerate() {
        let input = Input::new(&sample.bytes, sample.address, sample.machine);
        let (mut expected, mut pcs) = expect(consumer, &input, plan.most, seed);
        if seed.checked_rem(plan.one_in) != Some(0) && !spare(&mut expected, &mut pcs) {
            counts.spared += 1;
            continue;
        }
        let (pcs, listed) =
            if lists_only(consumer) { (Vec::new(), pcs) } else { (pcs, Vec::new()) };
        lists.push(listed);
        questions.push(question(sample, pcs));
        expectations.push(expected);
    }
    let replies = ask(program, &questions);
    let asked = questions.iter_mut().zip(lists).zip(&expectations);
    for (((question, listed), expected), mut replies) in asked.zip(replies) {
        // Earlier sections may have damaged the program's memory: ask again, in a new process.
        let outcomes = std::iter::once(&expected.opening).chain(&expected.answers);
        if !lists_only(consumer)
            && !outcomes.zip(&replies).all(|(outcome, answered)| agrees(outcome, &answered.reply))
        {
            replies = ask(program, std::slice::from_ref(question)).swap_remove(0);
        }
        if let Some(Reply::Opened(functions)) = replies.first().map(|answered| &answered.reply)
            && lists_only(consumer)
        {
            let is_ours = consumer.page().name == "mold-3";
            let found: Vec<Answered> =
                listed.iter().map(|pc| look_up(functions, *pc, is_ours).into()).collect();
            replies.extend(found);
            question.pcs = listed;
        }
        judge(&mut counts, consumer.page().name, question, expected, &replies);
    }
    counts
}

/// Whether a row of libsframe 2.47 means what the profile says in one of its readings.
///
/// A lookup does not say which function it found. Where it may not be the one of which the program takes the type, the row
/// may be of either type. In a flexible row with a rule for FP, the interface returns the header's fixed offset in place of
/// the row's.
fn agrees_in_one_reading(
    name: &str,
    question: &Question,
    pc: Option<u64>,
    outcome: &Outcome,
    answered: &Answered,
) -> bool {
    let Some(pc) = pc.filter(|_| name == "libsframe-2.47") else { return false };
    let bytes = question.section.bytes().expect("hexadecimal");
    let has_fixed_fp = bytes.get(5).is_some_and(|offset| *offset != 0);
    let otherwise = answered.otherwise.map_or(Reply::Refused, Reply::Found);
    let mut readings = vec![answered.reply.clone()];
    if bytes.get(2) == Some(&3) && !has_one_function(&bytes, question.section.address.0, pc) {
        readings.push(otherwise);
    }
    readings.into_iter().any(|mut reading| {
        if let Reply::Found(frame) = &mut reading
            && has_fixed_fp
        {
            frame.fp = None;
        }
        agrees(outcome, &reading)
    })
}

/// Whether a lookup of libsframe 2.47 can find no function but the one that covers the PC. The library compares the low 32
/// bits of offsets with sizes. It adds the place of the field to each start, also without the flag for PC-relative starts.
fn has_one_function(bytes: &[u8], address: u64, pc: u64) -> bool {
    let Ok(section) = StoredSection::parse(bytes, Placement::at(address)) else { return false };
    let offset =
        |function: &Function<'_>| function.start().map(|start| pc.wrapping_sub(start.address));
    let functions: Vec<(u64, u32)> = section
        .functions()
        .flatten()
        .filter_map(|function| Some((offset(&function).ok()?, function.size())))
        .filter(|(offset, size)| offset & 0xffff_ffff < u64::from(*size))
        .collect();
    section.header().has_pcrel_starts()
        && matches!(functions[..], [(offset, size)] if offset < u64::from(size))
}

/// Whether a program lists functions and rows, and looks up no PCs.
pub(crate) fn lists_only(consumer: &dyn Consumer) -> bool {
    ["llvm-23", "mold-3"].contains(&consumer.page().name)
}

/// The row at a PC, by a list of functions: of the one that starts last at or before it, the row before the next.
/// What mold wrote is decoded by a reader of ours, which gives up a function at its first bad row.
pub(crate) fn look_up(functions: &[Listed], pc: u64, is_decoded_by_us: bool) -> Reply {
    let before = functions.iter().enumerate().filter(|(_, function)| function.start.0 <= pc);
    let last = before.max_by_key(|(index, function)| (function.start.0, *index));
    let Some((_, function)) = last else { return Reply::Nothing };
    let Ok(mut offset) = u32::try_from(pc - function.start.0) else { return Reply::Nothing };
    if offset >= function.size {
        return Reply::Nothing;
    }
    if function.repeat > 0 {
        offset %= function.repeat;
    }
    if function.rows.is_empty() && function.error.is_some() && is_decoded_by_us {
        return Reply::Unsupported;
    }
    let is_outermost = function.rows.is_empty() && function.fde_type.as_deref() == Some("default");
    if is_decoded_by_us && is_outermost {
        return Reply::Found(Frame::OUTERMOST);
    }
    let next = function.rows.iter().position(|row| row.start > offset);
    if next.is_none() && function.error.is_some() {
        return Reply::Nothing;
    }
    let found = next.unwrap_or(function.rows.len()).checked_sub(1);
    match found.map(|index| function.rows[index].frame) {
        Some(frame) if frame.cfa.is_some() || frame == Frame::OUTERMOST => Reply::Found(frame),
        _ => Reply::Nothing,
    }
}

fn judge(
    counts: &mut Counts,
    name: &str,
    question: &Question,
    expected: &Expected,
    replies: &[Answered],
) {
    counts.sections += 1;
    let outcomes = std::iter::once(&expected.opening).chain(&expected.answers);
    let mut pcs = std::iter::once(None).chain(question.pcs.iter().map(Some));
    for (outcome, answered) in outcomes.zip(replies) {
        let (pc, reply) = (pcs.next().flatten(), &answered.reply);
        match reply {
            Reply::Opened(_) => counts.accepted += 1,
            Reply::Found(_) => counts.rows += 1,
            Reply::Crashed => counts.crashes += 1,
            _ => {}
        }
        counts.lookups += u64::from(pc.is_some());
        if *outcome == Outcome::Undecided {
            counts.undecided += 1;
            counts.undecided_crashes += u64::from(*reply == Reply::Crashed);
        }
        let is_ported = ["glibc-2.43", "linux-arm64-kernel"].contains(&name);
        if is_ported && *reply == Reply::Crashed && question.section.machine == "aarch64" {
            // The program runs on AMD64, where a division by zero is an exception; on AArch64, it is none.
            counts.host_crashes += u64::from(*outcome != Outcome::Undecided);
        } else if name == "mold-3"
            && *outcome == Outcome::Nothing
            && matches!(reply, Reply::Found(_))
        {
            // mold copies rows without a meaning, and two readers of ours differ about them.
            counts.ambiguous += 1;
        } else if agrees(outcome, reply) {
            continue;
        } else if agrees_in_one_reading(name, question, pc.copied(), outcome, answered) {
            counts.ambiguous += 1;
        } else {
            let kind = format!("{} / {}", outcome_name(outcome), reply_name(reply));
            counts.disagree(kind, || {
                format!(
                    "pc {pc:x?}: profile {outcome:?}, code {reply:?}; {} at {:#x}: {}",
                    question.section.machine, question.section.address.0, question.section.hex
                )
            });
        }
    }
}

fn outcome_name(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Opened => "opened",
        Outcome::Refused => "refused",
        Outcome::Found(_) => "row",
        Outcome::Nothing => "nothing",
        Outcome::Unused => "unused row",
        Outcome::Crashed => "crash",
        Outcome::Undecided => "undecided",
    }
}

fn reply_name(reply: &Reply) -> &'static str {
    match reply {
        Reply::Opened(_) => "opened",
        Reply::Refused => "refused",
        Reply::Found(_) => "row",
        Reply::Nothing => "nothing",
        Reply::Unsupported => "unsupported",
        Reply::Crashed => "crash",
    }
}
