//! The sums of an assessment against the consumer's own code, asked at every PC.

use std::path::PathBuf;

use sframe_conformance::Frame;
use sframe_consumers::{Assessment, Consumer, Input, Opening, PcBytes, Verdict, assess};
use sframe_validator::unwind;

use crate::compare::{Outcome, agrees, frame, lists_only, look_up, question};
use crate::inputs::Sample;
use crate::pcs::{Pcs, Truth};
use crate::program::{Answered, Reply, ask};

/// Sections of which the sums were compared.
#[derive(Debug, Default)]
pub(crate) struct Compared {
    pub(crate) sections: u64,
    pub(crate) accepted: u64,
    pub(crate) pcs: u64,
    /// Sections whose sums leave nothing open.
    pub(crate) exact: u64,
}

/// A section, and what is said of it.
struct Case<'a> {
    sample: &'a Sample,
    found: Assessment,
    truths: Vec<(u64, Truth)>,
}

/// Compares all sums with those of the consumer's program. Sections that the consumer does not open, or whose functions overlap
/// or are too far apart, are left out.
pub(crate) fn compare(
    consumer: &dyn Consumer,
    program: &PathBuf,
    samples: &[Sample],
    most: u64,
) -> Compared {
    let cases: Vec<Case<'_>> = samples.iter().filter_map(|of| case(consumer, of, most)).collect();
    let questions: Vec<_> = cases
        .iter()
        .map(|case| {
            let pcs = case.truths.iter().map(|(pc, _)| *pc).collect();
            question(case.sample, if lists_only(consumer) { Vec::new() } else { pcs })
        })
        .collect();
    let mut compared = Compared::default();
    for (case, replies) in cases.iter().zip(ask(program, &questions)) {
        let answers = answers(consumer, case, &replies);
        // An undecided section may not open.
        let Some(answers) = answers else { continue };
        judge(consumer, case, &answers);
        let is_exact = case.found.bytes.undecided == 0;
        compared.sections += 1;
        compared.accepted += u64::from(case.found.verdict == Verdict::Accept);
        compared.pcs += answers.len() as u64;
        compared.exact += u64::from(is_exact);
    }
    compared
}

fn case<'a>(consumer: &dyn Consumer, sample: &'a Sample, most: u64) -> Option<Case<'a>> {
    let input = Input::new(&sample.bytes, sample.address, sample.machine);
    let Opening::Accept(reader) = consumer.open(&input) else { return None };
    let truths = Pcs::of(sample, reader.as_ref(), most)?.truths().collect();
    Some(Case { sample, found: assess(&input, consumer), truths })
}

/// What the code answers at each PC; none if the section does not open, or if a reader of ours cannot say what mold wrote.
fn answers(consumer: &dyn Consumer, case: &Case<'_>, replies: &[Answered]) -> Option<Vec<Reply>> {
    let first = replies.first().map(|answered| &answered.reply);
    let Some(Reply::Opened(functions)) = first else { return None };
    if !lists_only(consumer) {
        return Some(replies.iter().skip(1).map(|answered| answered.reply.clone()).collect());
    }
    let is_ours = consumer.page().name == "mold-3";
    let found = case.truths.iter().map(|(pc, _)| look_up(functions, *pc, is_ours));
    let found: Vec<Reply> = found.collect();
    (!found.contains(&Reply::Unsupported)).then_some(found)
}

/// The sums of the code's answers. Where the specification cannot read the section, only crashes count.
fn sums(case: &Case<'_>, answers: &[Reply]) -> PcBytes {
    let mut sums = PcBytes::default();
    for ((_, truth), reply) in case.truths.iter().zip(answers) {
        let place = match (truth, reply) {
            (Truth::Row(_) | Truth::Unreadable, Reply::Crashed) => &mut sums.crash,
            (Truth::Row(row), Reply::Found(found)) if is_same(row, found) => &mut sums.same,
            (Truth::Row(_), Reply::Found(_)) => &mut sums.other,
            (Truth::Row(_), _) => &mut sums.none,
            (Truth::Unreadable, _) => &mut sums.undecided,
            (Truth::Nothing, Reply::Found(_)) => &mut sums.beyond,
            (Truth::Nothing, _) => continue,
        };
        *place += 1;
    }
    sums
}

/// Whether the code found the specification's row. Code that does not say whether RA is signed takes it as it is.
fn is_same(row: &unwind::Frame, found: &Frame) -> bool {
    let row = frame(row);
    let found = Frame { signed: found.signed.or(row.signed.map(|_| false)), ..*found };
    agrees(&Outcome::Found(row), &Reply::Found(found))
}

/// Each sum is the code's. Bytes that one side leaves open may be of any kind.
fn judge(consumer: &dyn Consumer, case: &Case<'_>, answers: &[Reply]) {
    let (ours, code) = (case.found.bytes, sums(case, answers));
    let open = ours.undecided + code.undecided;
    let pairs = [
        ("same", ours.same, code.same),
        ("other", ours.other, code.other),
        ("none", ours.none, code.none),
        ("crash", ours.crash, code.crash),
    ];
    let mut wrong: Vec<_> =
        pairs.into_iter().filter(|(_, ours, code)| ours.abs_diff(*code) > open).collect();
    if ours.undecided == 0 && ours.beyond != code.beyond {
        wrong.push(("beyond", ours.beyond, code.beyond));
    }
    let has_fault = answers.contains(&Reply::Crashed) || code.same != code_total(&code);
    if case.found.verdict == Verdict::Accept && has_fault {
        wrong.push(("accept", code.same, code_total(&code)));
    }
    assert!(
        wrong.is_empty(),
        "{} and {}: (sum, profile, code): {wrong:?}; {:?}, {} at {:#x}: {:02x?}",
        consumer.page().name,
        case.sample.name,
        case.found,
        case.sample.machine.name(),
        case.sample.address,
        case.sample.bytes
    );
}

fn code_total(code: &PcBytes) -> u64 {
    code.same + code.other + code.none + code.crash + code.undecided + code.beyond
}
