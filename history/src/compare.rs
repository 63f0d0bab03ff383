//! Two scans held against each other, record by record.
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

use crate::Record;
use crate::changes::{Changes, Scan};

/// Which of two scans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum When {
    /// The first one.
    Old,
    /// The second one.
    New,
}

/// Two scans as their records come in, in any order. What records have in common with others is
/// held once, and what no change is seen by not at all: some hundred bytes a file.
#[derive(Debug)]
pub struct Comparison {
    old: Scan,
    new: Scan,
}

impl Comparison {
    /// Starts with the names of both scans, and whether they ended.
    #[must_use]
    pub fn new(old: Scan, new: Scan) -> Comparison {
        Comparison { old, new }
    }

    /// Takes a record of one of the scans.
    pub fn add(&mut self, when: When, record: &Record<'_>) {
        let _ = (when, record);
    }

    /// Whether a scan ended, and what made it, where that is known only behind its records.
    pub fn scan_mut(&mut self, when: When) -> &mut Scan {
        match when {
            When::Old => &mut self.old,
            When::New => &mut self.new,
        }
    }

    /// What changed. The order in which records came makes no difference.
    #[must_use]
    pub fn finish(self) -> Changes {
        todo!()
    }
}
