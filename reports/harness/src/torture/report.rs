//! What came of it all.

use std::path::PathBuf;

use sframe_validator::rules::Rule;

use super::cases::{Duty, Format, Kind};
use super::limits::Limits;
use super::reader::Reader;
use super::verdict::{End, Judgement, Verdict};

/// What came of it.
#[derive(Clone, Debug)]
pub struct Report {
    /// The limits that held.
    pub limits: Limits,
    /// How many cases there are for each reader.
    pub cases: u64,
    /// Whether it was asked to stop before all cases had run: those that had are in it.
    pub interrupted: bool,
    /// Where the files are left.
    pub kept: Option<PathBuf>,
    /// One for each reader, in the order in which they were named.
    pub readers: Vec<ReaderReport>,
}

/// A reader and what it did.
#[derive(Clone, Debug)]
pub struct ReaderReport {
    /// The reader.
    pub reader: Reader,
    /// The first line that it prints for `--version`, if that works.
    pub version: Option<Vec<u8>>,
    /// What it did with each case that has run, in the cases' order, or why it could not be run.
    pub outcomes: Result<Vec<Outcome>, String>,
}

/// What a reader did with a case.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Folder and name of the file.
    pub case: String,
    /// Where the case comes from.
    pub kind: Kind,
    /// The rule that it breaks.
    pub rule: Option<&'static Rule>,
    /// Of a bomb: why it has no reading, or what it promises.
    pub reason: Option<&'static str>,
    /// What was asked of the reader.
    pub duty: Duty,
    /// The version and machine that it had to know.
    pub format: Option<Format>,
    /// What it did.
    pub verdict: Verdict,
    /// Whether that conforms.
    pub judgement: Judgement,
    /// How it ended.
    pub end: End,
    /// The first line on standard error.
    pub message: Vec<u8>,
    /// Bytes that it printed.
    pub printed: u64,
    /// Processor time in milliseconds, and resident memory in KiB; not known of one that had to be
    /// ended.
    pub cost: Option<(u64, u64)>,
}

impl ReaderReport {
    /// What it did with each case; nothing where it could not be run.
    #[must_use]
    pub fn outcomes(&self) -> &[Outcome] {
        self.outcomes.as_deref().unwrap_or_default()
    }

    /// The versions and machines that it reads.
    pub fn formats(&self) -> impl Iterator<Item = Format> {
        let read = |outcome: &&Outcome| outcome.duty == Duty::Read;
        let sound = self.outcomes().iter().filter(read);
        sound.filter(|outcome| outcome.verdict == Verdict::Accept).filter_map(|o| o.format)
    }

    /// How many cases had a verdict and judgement.
    #[must_use]
    pub fn count(&self, wanted: impl Fn(&Outcome) -> bool) -> u64 {
        self.outcomes().iter().filter(|outcome| wanted(outcome)).count() as u64
    }

    /// The cases in which it did not conform, the worst first.
    #[must_use]
    pub fn failures(&self) -> Vec<&Outcome> {
        let failed = |outcome: &&Outcome| outcome.judgement == Judgement::NotConforming;
        let mut failures: Vec<_> = self.outcomes().iter().filter(failed).collect();
        failures.sort_by_key(|outcome| outcome.verdict);
        failures
    }

    /// Whether there is nothing that it reads, so that its refusals say nothing; also of one that
    /// could not be run.
    #[must_use]
    pub fn reads_nothing(&self) -> bool {
        self.formats().next().is_none()
    }
}

impl Report {
    /// Whether a reader did something that no conforming one does.
    #[must_use]
    pub fn has_failures(&self) -> bool {
        self.readers.iter().any(|reader| !reader.failures().is_empty())
    }

    /// Whether a reader could not be run, or reads nothing.
    #[must_use]
    pub fn is_incomplete(&self) -> bool {
        self.readers.iter().any(ReaderReport::reads_nothing)
    }
}
