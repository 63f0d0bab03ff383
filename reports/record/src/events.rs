//! What is found in files, as events: a file begins, its findings follow, it ends.
//!
//! A file may have more findings than fit in memory. Whatever looks at findings takes them one by one, and keeps what it
//! needs of them.

use std::io;

use crate::finding::Finding;
use crate::record::{Record, RuleCount, Suppressed, Undecided};

/// Takes what is found in files, one file after the other.
pub trait Events {
    /// A file begins. `head` has neither findings nor a [`Tail`].
    ///
    /// # Errors
    /// Returns an error if writing fails.
    fn begin(&mut self, head: &Record<'_>) -> io::Result<()>;

    /// The next finding of the file.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    fn finding(&mut self, head: &Record<'_>, finding: &Finding<'_>) -> io::Result<()>;

    /// The file ends. `record` is its head with its tail, without findings.
    ///
    /// # Errors
    /// Returns an error if writing fails.
    fn end(&mut self, record: &Record<'_>) -> io::Result<()>;
}

/// The part of a record that is known after the last finding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tail<'r> {
    /// How often each rule was broken.
    pub counts: Vec<RuleCount<'r>>,
    /// The findings that do not count.
    pub suppressed: Vec<Suppressed<'r>>,
    /// The checks that were not possible.
    pub undecided: Vec<Undecided<'r>>,
}

impl<'r> Record<'r> {
    /// Splits the record into its head, its findings and its tail.
    #[must_use]
    pub fn split(mut self) -> (Record<'r>, Vec<Finding<'r>>, Tail<'r>) {
        let findings = std::mem::take(&mut self.findings);
        let tail = Tail {
            counts: std::mem::take(&mut self.counts),
            suppressed: std::mem::take(&mut self.suppressed),
            undecided: std::mem::take(&mut self.undecided),
        };
        (self, findings, tail)
    }

    /// The record with this head, and with `tail`.
    #[must_use]
    pub fn ending(self, tail: Tail<'r>) -> Record<'r> {
        let Tail { counts, suppressed, undecided } = tail;
        Record { counts, suppressed, undecided, ..self }
    }

    /// Hands the record over as events.
    ///
    /// # Errors
    /// Returns errors of `to`.
    pub fn hand_over(self, to: &mut dyn Events) -> io::Result<()> {
        let (head, findings, tail) = self.split();
        to.begin(&head)?;
        findings.iter().try_for_each(|finding| to.finding(&head, finding))?;
        to.end(&head.ending(tail))
    }
}
