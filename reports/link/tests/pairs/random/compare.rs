//! What differs between a link and its prediction.

use sframe_link::{Audit, Fate, Linker, Outcome};

use super::case::{Case, Machine};
use crate::real::Real;

pub(super) fn differences(case: &Case, real: &Real, audit: &Audit) -> Vec<String> {
    let prediction = &audit.prediction;
    let mut faults = Vec::new();
    let mut same = |what: &str, predicted: String, real: String| {
        if predicted != real {
            faults.push(format!("{what}: predicted {predicted}, and it is {real}"));
        }
    };
    same("status", format!("{:?}", prediction.status), format!("{:?}", Some(real.status)));
    let is_fit = |real: &str, predicted: &str| real.contains(predicted);
    let missing = real
        .messages
        .iter()
        .filter(|line| !prediction.messages.iter().any(|message| is_fit(line, message)));
    same("messages", String::new(), missing.cloned().collect::<Vec<_>>().join("; "));
    // mold ends at the first message, and which one that is depends on its threads.
    if audit.linker.linker != Linker::Mold || real.messages.is_empty() {
        let others = prediction.messages.iter().filter(|message| !is_fit(&real.text, message));
        same("not printed", others.cloned().collect::<Vec<_>>().join("; "), String::new());
    }
    // ld -r of 2.47.50 leaves an empty section, or all that it refused: the note says so.
    if prediction.outcome == Outcome::Empty && !prediction.notes.is_empty() {
        return faults;
    }
    let mut same = |what: &str, predicted: String, real: String| {
        if predicted != real {
            faults.push(format!("{what}: predicted {predicted}, and it is {real}"));
        }
    };
    let predicted: Vec<(String, Option<u64>)> =
        prediction.sections.iter().map(|s| (s.section_type.name(), s.size)).collect();
    let found = real.sections.iter().enumerate().map(|(number, (kind, size))| {
        let is_predicted = predicted.get(number).is_some_and(|(_, size)| size.is_some());
        (kind.clone(), is_predicted.then_some(*size))
    });
    same("sections", format!("{predicted:?}"), format!("{:?}", found.collect::<Vec<_>>()));
    same("segment", prediction.segment.to_string(), real.segment.to_string());
    same("stubs", prediction.stubs_described.to_string(), (real.stubs > 0).to_string());
    let described = described(case, audit);
    let collected =
        prediction.at_most && real.functions.iter().all(|name| described.contains(name));
    // The readers at hand refuse big-endian sections that follow each other.
    let is_unread = case.machine == Machine::S390x && prediction.outcome == Outcome::Appended;
    // A wrong start may be that of another function by chance.
    let is_misplaced = prediction.fates.contains(&Fate::Misplaced);
    if !collected && !is_unread && !is_misplaced {
        same("functions", format!("{described:?}"), format!("{:?}", real.functions));
    }
    faults
}

/// The functions of the inputs that readers will find.
fn described(case: &Case, audit: &Audit) -> Vec<String> {
    let fates = audit.inputs.iter().zip(&audit.prediction.fates);
    let found = fates.filter(|(_, fate)| fate.is_described());
    let mut functions: Vec<String> =
        found.flat_map(|(input, _)| case.functions(&input.name)).collect();
    functions.sort();
    functions.dedup();
    functions
}
