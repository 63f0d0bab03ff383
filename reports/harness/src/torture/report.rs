//! The report: the outcome of each case for each reader.

use std::path::PathBuf;

use sframe_validator::rules::Rule;

use super::case::{Duty, Format, Kind};
use super::reader::Reader;
use super::verdict::{Judgement, Verdict};
use crate::limited::{Cost, End, Limits, NotRun};

/// The outcomes of all readers.
#[derive(Debug)]
pub struct Report {
    /// The limits of each run.
    pub limits: Limits,
    /// The number of cases for each reader.
    pub cases: u64,
    /// Whether the run was stopped early; the report contains the cases that had finished.
    pub interrupted: bool,
    /// The folder in which the files were kept.
    pub kept: Option<PathBuf>,
    /// The readers, in the order in which they were named.
    pub readers: Vec<ReaderReport>,
}

/// A reader and its outcomes.
#[derive(Debug)]
pub struct ReaderReport {
    /// The reader.
    pub reader: Reader,
    /// The first line that it prints for `--version`, if it has that option.
    pub version: Option<Vec<u8>>,
    /// The outcomes of the cases that have run, in order, or why it could not be run.
    pub outcomes: Result<Vec<Outcome>, NotRun>,
}

/// The outcome of a case for a reader.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The folder and name of the file.
    pub case: String,
    /// The origin of the case.
    pub kind: Kind,
    /// The rule that the case breaks.
    pub rule: Option<&'static Rule>,
    /// For a bomb: why it cannot be read, or what it promises.
    pub reason: Option<&'static str>,
    /// The expected behaviour.
    pub duty: Duty,
    /// The version and machine that the reader must support.
    pub format: Option<Format>,
    /// What the reader did.
    pub verdict: Verdict,
    /// Whether that conforms.
    pub judgement: Judgement,
    /// How it ended.
    pub end: End,
    /// The first line on standard error.
    pub message: Vec<u8>,
    /// Bytes that it printed.
    pub printed: u64,
    /// The resources that it used; `None` if it was killed.
    pub cost: Option<Cost>,
}

impl ReaderReport {
    /// The outcomes; empty if the reader could not be run.
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

    /// The number of its outcomes for which `wanted` returns true.
    #[must_use]
    pub fn count(&self, wanted: impl Fn(&Outcome) -> bool) -> u64 {
        self.outcomes().iter().filter(|outcome| wanted(outcome)).count() as u64
    }

    /// The cases in which it did not conform, worst first.
    #[must_use]
    pub fn failures(&self) -> Vec<&Outcome> {
        let failed = |outcome: &&Outcome| outcome.judgement == Judgement::NotConforming;
        let mut failures: Vec<_> = self.outcomes().iter().filter(failed).collect();
        failures.sort_by_key(|outcome| outcome.verdict);
        failures
    }

    /// Whether it accepts no sound section, so that its refusals mean nothing. Also true if it could not be run.
    #[must_use]
    pub fn reads_nothing(&self) -> bool {
        self.formats().next().is_none()
    }
}

impl Report {
    /// Whether a reader did something that no conforming reader does.
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
