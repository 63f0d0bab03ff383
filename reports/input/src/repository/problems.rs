//! What is wrong with an index. Each problem is reported for the first packages, and then counted.

use std::collections::BTreeMap;
use std::fmt;

use sframe_record::numbers::grouped;

/// For how many packages the same problem is reported.
const REPORTED: u64 = 20;

/// Why a package in an index cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Problem {
    /// The package: `package libfoo`.
    pub(super) about: String,
    /// What is wrong with it, without anything that differs from package to package.
    pub(super) why: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.about, self.why)
    }
}

/// How often each problem was found.
#[derive(Debug, Default)]
pub(super) struct Problems {
    counts: BTreeMap<String, u64>,
}

impl Problems {
    /// The message about a problem, if it is one of the first 20 of its kind.
    pub(super) fn report(&mut self, problem: &Problem) -> Option<String> {
        let count = match self.counts.get_mut(&problem.why) {
            Some(count) => count,
            None => self.counts.entry(problem.why.clone()).or_default(),
        };
        *count = count.saturating_add(1);
        (*count <= REPORTED).then(|| problem.to_string())
    }

    /// How many more packages have each problem that more than 20 have.
    pub(super) fn rest(&self) -> impl Iterator<Item = String> {
        self.counts.iter().filter_map(|(why, count)| {
            let more = count.checked_sub(REPORTED).filter(|more| *more > 0)?;
            let packages = if more == 1 { "package" } else { "packages" };
            Some(format!("{} more {packages}: {why}", grouped(more)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_problem_is_counted_after_the_twentieth() {
        let mut problems = Problems::default();
        let problem = |number: u32, why: &str| Problem {
            about: format!("package {number}"),
            why: why.to_owned(),
        };
        let reported = |problems: &mut Problems, count, why| {
            (0..count).filter_map(|number| problems.report(&problem(number, why))).count()
        };
        assert_eq!(reported(&mut problems, 20, "it is bad"), 20);
        assert_eq!(problems.rest().count(), 0);
        assert_eq!(reported(&mut problems, 2000, "it is bad"), 0);
        assert_eq!(reported(&mut problems, 21, "it is worse"), 20);
        let rest: Vec<String> = problems.rest().collect();
        assert_eq!(rest, ["2,000 more packages: it is bad", "1 more package: it is worse"]);
    }
}
