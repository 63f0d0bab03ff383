//! What is wrong with indexes and their packages. Each problem is reported for the first 20, and then counted.

use std::collections::BTreeMap;
use std::fmt;

use sframe_record::numbers::grouped;

/// For how many indexes or packages the same problem is reported.
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

/// What has problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Bearer {
    Index,
    Package,
}

impl Bearer {
    const fn counted(self, count: u64) -> &'static str {
        match (self, count) {
            (Bearer::Index, 1) => "index",
            (Bearer::Index, _) => "indexes",
            (Bearer::Package, 1) => "package",
            (Bearer::Package, _) => "packages",
        }
    }
}

/// How often each problem was found.
#[derive(Debug, Default)]
pub(super) struct Problems {
    counts: BTreeMap<(Bearer, String), u64>,
}

impl Problems {
    /// Counts a problem. Returns whether it is one of the first 20 of its kind, which are reported.
    pub(super) fn count(&mut self, bearer: Bearer, why: &str) -> bool {
        let count = self.counts.entry((bearer, why.to_owned())).or_default();
        *count = count.saturating_add(1);
        *count <= REPORTED
    }

    /// How many more indexes or packages have each problem that more than 20 have.
    pub(super) fn rest(&self) -> impl Iterator<Item = String> {
        self.counts.iter().filter_map(|((bearer, why), count)| {
            let more = count.checked_sub(REPORTED).filter(|more| *more > 0)?;
            Some(format!("{} more {}: {why}", grouped(more), bearer.counted(more)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_problem_is_counted_after_the_twentieth() {
        let mut problems = Problems::default();
        let reported = |problems: &mut Problems, count, bearer, why| {
            (0..count).filter(|_| problems.count(bearer, why)).count()
        };
        assert_eq!(reported(&mut problems, 20, Bearer::Package, "it is bad"), 20);
        assert_eq!(problems.rest().count(), 0);
        assert_eq!(reported(&mut problems, 2000, Bearer::Package, "it is bad"), 0);
        assert_eq!(reported(&mut problems, 21, Bearer::Package, "it is worse"), 20);
        assert_eq!(reported(&mut problems, 22, Bearer::Index, "it is bad"), 20);
        let rest: Vec<String> = problems.rest().collect();
        assert_eq!(
            rest,
            [
                "2 more indexes: it is bad",
                "2,000 more packages: it is bad",
                "1 more package: it is worse"
            ]
        );
    }
}
