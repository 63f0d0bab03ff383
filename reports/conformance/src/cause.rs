//! Failed vectors, grouped by what is wrong.

use std::collections::BTreeMap;

use crate::check::{Outcome, Verdict};

/// Vectors of one clause that a reader fails in the same way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause<'o> {
    /// The first of them.
    pub example: &'o Outcome,
    /// The number of vectors.
    pub vectors: usize,
}

/// The folder of a vector, which is its clause's.
#[must_use]
pub fn clause(outcome: &Outcome) -> &str {
    outcome.name.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The failed vectors, by clause and by what is wrong first; the most frequent cause of a clause comes first.
#[must_use]
pub fn causes(outcomes: &[Outcome]) -> BTreeMap<&str, Vec<Cause<'_>>> {
    let mut clauses: BTreeMap<&str, Vec<(String, Cause<'_>)>> = BTreeMap::new();
    for example in outcomes.iter().filter(|outcome| outcome.verdict == Verdict::Fail) {
        let kind = example.wrong.first().map_or(String::new(), |message| kind(message));
        let known = clauses.entry(clause(example)).or_default();
        match known.iter_mut().find(|(other, _)| *other == kind) {
            Some((_, cause)) => cause.vectors += 1,
            None => known.push((kind, Cause { example, vectors: 1 })),
        }
    }
    clauses.into_iter().map(|(clause, causes)| (clause, sorted(causes))).collect()
}

/// Causes without their kinds, the most frequent one first.
fn sorted(mut causes: Vec<(String, Cause<'_>)>) -> Vec<Cause<'_>> {
    causes.sort_by_key(|(_, cause)| std::cmp::Reverse(cause.vectors));
    causes.into_iter().map(|(_, cause)| cause).collect()
}

/// What a message has in common with those of the same cause. Of a comparison, that is what was compared, and whether
/// there was no row; other messages are the same or not.
fn kind(message: &str) -> String {
    let Some((found, _)) = message.split_once(", expected ") else { return message.to_owned() };
    let end = [" (", ": "].iter().filter_map(|end| found.find(end)).min();
    let subject = end.and_then(|end| found.get(..end)).unwrap_or(found);
    let mut kind: String = subject.chars().filter(|of| !of.is_ascii_digit()).collect();
    if found.ends_with(": null") {
        kind.push_str(": null");
    }
    kind
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(name: &str, verdict: Verdict, wrong: &str) -> Outcome {
        let wrong = vec![wrong.to_owned()];
        let (name, choices) = (name.to_owned(), Vec::new());
        Outcome { name, verdict, checks: 1, wrong, choices, refused: false, late: false }
    }

    #[test]
    fn vectors_with_one_cause_are_counted_by_clause() {
        let outcomes = [
            outcome("v1/a/0", Verdict::Pass, ""),
            outcome("v1/a/1", Verdict::Fail, "crashed: signal: 11 (SIGSEGV)"),
            outcome("v1/a/2", Verdict::Fail, "lookup of 0x10 (first): null, expected {1}"),
            outcome("v1/a/3", Verdict::Fail, "lookup of 0x24 (last): null, expected {2}"),
            outcome("v1/a/4", Verdict::Fail, "lookup of 0x24 (last): {3}, expected {2}"),
            outcome("v1/a/5", Verdict::Fail, "crashed: signal: 6 (SIGABRT)"),
            outcome("v1/b/1", Verdict::Fail, "refused: version"),
            outcome("v1/b/2", Verdict::Unsupported, ""),
        ];
        let found = causes(&outcomes);
        let names = |clause: &str| -> Vec<(String, usize)> {
            let causes = found.get(clause).into_iter().flatten();
            causes.map(|cause| (cause.example.name.replace("v1/", ""), cause.vectors)).collect()
        };
        let expected = [("a/2", 2), ("a/1", 1), ("a/4", 1), ("a/5", 1)];
        assert_eq!(names("v1/a"), expected.map(|(name, count)| (name.to_owned(), count)));
        assert_eq!(names("v1/b"), [("b/1".to_owned(), 1)]);
    }
}
