//! The sums of an assessment against lookups at every single PC: the consumer's by its profile, the specification's by
//! `Section::find`. `tests/code.rs` has the same against each consumer's own code.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

#[path = "code/inputs.rs"]
mod inputs;
#[path = "code/pcs.rs"]
mod pcs;

use inputs::{Sample, every_info_byte, golden_sections, malformed, mutant, vectors};
use pcs::{Pcs, Truth};
use sframe_consumers::{Answer, Input, Opening, PcBytes, StopKind, Verdict, assess, profiles};
use sframe_mutate::Seeded;
use sframe_validator::unwind::Frame;

/// What one PC adds to the sums.
fn add(sums: &mut PcBytes, truth: Truth, answer: Answer, reports: bool) {
    let stop = answer.map_err(|stop| stop.kind);
    let place = match (truth, stop) {
        (Truth::Row(_) | Truth::Unreadable, Err(StopKind::Crash)) => &mut sums.crash,
        (Truth::Row(row), Ok(found)) if is_same(&row, &found.frame) => &mut sums.same,
        (Truth::Row(_), Ok(_)) => &mut sums.other,
        (Truth::Row(_), Err(StopKind::Undecided)) => &mut sums.undecided,
        (Truth::Row(_), Err(_)) => &mut sums.none,
        (Truth::Unreadable, Err(StopKind::DropsSection)) => &mut sums.none,
        (Truth::Unreadable, Err(StopKind::Error)) if reports => &mut sums.none,
        (Truth::Unreadable, _) => &mut sums.undecided,
        (Truth::Nothing, Ok(_)) => &mut sums.beyond,
        (Truth::Nothing, Err(_)) => return,
    };
    *place += 1;
}

fn is_same(row: &Frame, found: &Frame) -> bool {
    row == found || (*row == Frame::OUTERMOST && found.ra == row.ra)
}

fn compare(samples: &[Sample]) -> (usize, usize) {
    let (mut compared, mut accepted) = (0, 0);
    for sample in samples {
        let input = Input::new(&sample.bytes, sample.address, sample.machine);
        for consumer in profiles() {
            let page = consumer.page();
            if !page.machines.contains(&sample.machine) {
                continue;
            }
            let Opening::Accept(reader) = consumer.open(&input) else { continue };
            let Some(pcs) = Pcs::of(sample, reader.as_ref(), 0x8000) else { continue };
            let found = assess(&input, *consumer);
            let mut lookups = reader.lookups();
            let mut sums = PcBytes::default();
            for (pc, truth) in pcs.truths() {
                add(&mut sums, truth, lookups.answer(pc), page.reports_errors);
            }
            let text = || format!("{} and {}: {:02x?}", page.name, sample.name, sample.bytes);
            assert_eq!(found.bytes, sums, "{}", text());
            let right = sums.same + sums.beyond + sums.none + sums.other;
            let is_whole = right == sums.same && sums.undecided == 0 && sums.crash == 0;
            assert!(found.verdict != Verdict::Accept || is_whole, "{}", text());
            compared += 1;
            accepted += usize::from(found.verdict == Verdict::Accept);
        }
    }
    (compared, accepted)
}

#[test]
fn sums_of_golden_sections_are_those_of_single_pcs() {
    let (compared, accepted) = compare(&golden_sections());
    assert!(compared > 500 && accepted > 200, "{compared}, {accepted}");
}

#[test]
fn sums_of_vectors_are_those_of_single_pcs() {
    let (compared, accepted) = compare(&vectors());
    assert!(compared > 500 && accepted > 100, "{compared}, {accepted}");
}

#[test]
fn sums_of_malformed_sections_are_those_of_single_pcs() {
    let (compared, accepted) = compare(&malformed());
    assert!(compared > 50, "{compared}, {accepted}");
    let (compared, accepted) = compare(&every_info_byte());
    assert!(compared > 1000 && accepted > 100, "{compared}, {accepted}");
}

#[test]
fn sums_of_mutants_are_those_of_single_pcs() {
    let wanted: usize =
        std::env::var("SFRAME_MUTANTS").map_or(1000, |count| count.parse().expect("a number"));
    let mut random = Seeded::new(23);
    let mut samples = golden_sections();
    samples.extend(vectors());
    samples.retain(|sample| sample.bytes.len() < 1500);
    let mutants: Vec<Sample> =
        (0..wanted).map(|_| mutant(&samples[random.below(samples.len())], &mut random)).collect();
    let (compared, _) = compare(&mutants);
    assert!(compared > wanted / 4, "{compared}");
}
