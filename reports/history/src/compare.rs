//! Compares two scans record by record.
//!
//! ```
//! use sframe_history::changes::Scan;
//! use sframe_history::{Comparison, Record, When};
//!
//! let old = r#"{"path":"lib/libfoo.so.1.2","status":"checked"}"#;
//! let new = r#"{"path":"lib/libfoo.so.1.3","status":"unreadable","reason":"truncated"}"#;
//! let mut comparison = Comparison::new(Scan::complete("monday"), Scan::complete("tuesday"));
//! comparison.add(When::Old, &Record::parse(old)?);
//! comparison.add(When::New, &Record::parse(new)?);
//! let changes = comparison.finish();
//! assert!(changes.worse);
//! assert_eq!(changes.summary.unreadable, 1);
//! # Ok::<(), serde_json::Error>(())
//! ```

mod coverage;
mod kept;
mod matching;
pub(crate) mod names;
mod outcome;
mod pairs;
pub(crate) mod strings;
mod sums;
mod tables;
mod unread;

use crate::Record;
use crate::changes::{Changes, Scan};
use kept::File;
use outcome::{Absence, Context};
use pairs::Single;
use strings::Strings;
use sums::Sums;
use unread::Unread;

/// Which of two scans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum When {
    /// The first one.
    Old,
    /// The second one.
    New,
}

/// Two scans, whose records may be added in any order.
///
/// Only those parts of a record are kept that can change, and each string is kept only once.
#[derive(Debug)]
pub struct Comparison {
    old: Scan,
    new: Scan,
    old_files: Vec<File>,
    new_files: Vec<File>,
    strings: Strings,
    most_files: usize,
}

impl Comparison {
    /// The maximum number of files of each scan that are compared. A distribution has one or two million.
    pub const MOST_FILES: usize = 4_000_000;
    /// The maximum number of files with changes that are listed: the worst.
    pub const MOST_LISTED_FILES: usize = sums::MOST_FILES;
    /// The maximum number of rules that are listed.
    pub const MOST_LISTED_RULES: usize = sums::MOST_RULES;

    /// Starts a comparison with the names of both scans and whether they are complete.
    #[must_use]
    pub fn new(old: Scan, new: Scan) -> Comparison {
        let strings = Strings::default();
        let (old_files, new_files) = (Vec::new(), Vec::new());
        Comparison { old, new, old_files, new_files, strings, most_files: Comparison::MOST_FILES }
    }

    /// Compares at most so many files of each scan.
    #[must_use]
    pub fn within(self, most_files: usize) -> Comparison {
        Comparison { most_files, ..self }
    }

    /// Adds a record of one of the scans. Those beyond the maximum number are counted, and the comparison is undecided.
    pub fn add(&mut self, when: When, record: &Record<'_>) {
        let (files, scan) = match when {
            When::Old => (&mut self.old_files, &mut self.old),
            When::New => (&mut self.new_files, &mut self.new),
        };
        if files.len() < self.most_files {
            files.push(File::of(record, &mut self.strings));
        } else {
            scan.files_left = scan.files_left.saturating_add(1);
        }
    }

    /// One of the scans, to set what is known only after its records: whether it is complete, and the program's
    /// version.
    pub fn scan_mut(&mut self, when: When) -> &mut Scan {
        match when {
            When::Old => &mut self.old,
            When::New => &mut self.new,
        }
    }

    /// The changes. The order in which records were added makes no difference.
    #[must_use]
    pub fn finish(self) -> Changes {
        let Comparison { mut old, mut new, mut old_files, mut new_files, strings, .. } = self;
        for (scan, files) in [(&mut old, &old_files), (&mut new, &new_files)] {
            scan.files = files.len() as u64;
            // A file that is missing may be among those that were not compared.
            scan.complete &= scan.files_left == 0;
        }
        old_files.sort_by(|a, b| kept::order(a, b, &strings));
        new_files.sort_by(|a, b| kept::order(a, b, &strings));
        let lints = [&old_files, &new_files].map(|files| files.iter().any(File::has_lints));
        let context = Context { strings: &strings, lints_in_one: lints[0] != lints[1] };
        let pairs = pairs::pair(&old_files, &new_files, &strings);
        let mut sums = Sums::new(context);
        for (old, new, how) in &pairs.matched {
            sums.pair(old, new, *how, outcome::of_pair(old, new, *how, context));
        }
        // A file missing from a scan did not exist, provided that scan could have seen it.
        for (when, singles, other, other_files) in
            [(When::Old, &pairs.old, &new, &new_files), (When::New, &pairs.new, &old, &old_files)]
        {
            let unread = Unread::of(other_files, &strings);
            for Single { file, ambiguous } in singles {
                let absence = match other.complete && !ambiguous && !unread.hides(file, &strings) {
                    true => Absence::Certain,
                    false => Absence::Possible,
                };
                let outcome = outcome::of_single(file, when, absence, context);
                sums.single(file, when, absence, outcome);
            }
        }
        sums.finish(old, new)
    }
}
