//! Readers of other projects, and this one, on malformed sections and on such as promise far more
//! than they have: who crashes, hangs, takes all memory, or takes for sound what cannot be read?
//!
//! A reader is any command that takes an ELF file, and runs once for each case, in a process of its
//! own under limits. What a reader does not know it need not read: a version or machine of which it
//! refuses a sound section is out of its scope, as long as it refuses in peace.

mod bombs;
mod cases;
mod child;
mod corpus;
mod defects;
mod headers;
mod image;
pub mod json;
mod limited;
mod reader;
mod sound;
mod structure;
mod text;
mod verdict;

pub use cases::{Case, Duty, Format, Kind, all};
pub use limited::run_limited;
pub use reader::Reader;
pub use text::Text;
pub use verdict::{End, Judgement, Verdict};

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rayon::ThreadPoolBuilder;
use rayon::iter::{IndexedParallelIterator, IntoParallelIterator, ParallelIterator};
use sframe_validator::rules::Rule;

use child::Ran;

/// What a reader may take for one case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Processor time in seconds; by the clock it is three times as much, for other processes may
    /// be at work.
    pub seconds: u64,
    /// Address space in MiB; 0 for no limit, as sanitizers need it.
    pub memory_mib: u64,
}

/// How to run the readers.
#[derive(Clone, Debug)]
pub struct Options {
    /// The limits.
    pub limits: Limits,
    /// How many readers run at a time; 0 for as many as the machine has processors.
    pub threads: usize,
    /// Where to leave the files.
    pub keep: Option<PathBuf>,
    /// The program `sframe-check`, which starts the readers.
    pub program: PathBuf,
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Report {
    /// The limits that held.
    pub limits: Limits,
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
    /// What it did with each case, in the cases' order, or why it could not be run.
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

/// Runs every reader on every case.
///
/// # Errors
/// The files cannot be written, or the threads not be started. What is the matter with a reader is
/// in the report.
pub fn torture(readers: &[Reader], options: &Options) -> io::Result<Report> {
    let scratch = tempfile::Builder::new().prefix("sframe-check-").tempdir()?;
    let folder = match &options.keep {
        Some(folder) => std::path::absolute(folder)?,
        None => scratch.path().join("cases"),
    };
    let mut cases = all();
    for case in &mut cases {
        write(&folder, case)?;
        case.bytes = Vec::new();
    }
    let run = Run { options, scratch: scratch.path(), folder: &folder, cases: &cases };
    let pool = ThreadPoolBuilder::new().num_threads(options.threads).build();
    let readers = pool.map_err(io::Error::other)?.install(|| {
        readers.iter().enumerate().map(|(number, reader)| run.reader(number, reader)).collect()
    });
    Ok(Report { limits: options.limits, kept: options.keep.clone(), readers })
}

fn write(folder: &Path, case: &Case) -> io::Result<()> {
    let path = folder.join(&case.name);
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    fs::write(path, &case.bytes)
}

/// What all runs have in common.
struct Run<'a> {
    options: &'a Options,
    /// Where runs leave their reports.
    scratch: &'a Path,
    /// Where the cases are.
    folder: &'a Path,
    cases: &'a [Case],
}

impl Run<'_> {
    fn reader(&self, number: usize, reader: &Reader) -> ReaderReport {
        let report = |name: &str| self.scratch.join(format!("{number}-{name}"));
        let run = |command: &[_], name: &str| {
            child::run(&self.options.program, command, self.options.limits, &report(name))
        };
        let version = match run(&reader.version_command(), "version") {
            Ok(ran) => (ran.end == End::Status(0)).then(|| first_line(&ran.output)),
            Err(why) => {
                return ReaderReport { reader: reader.clone(), version: None, outcomes: Err(why) };
            }
        };
        let on = |index: usize, case: &Case| {
            run(&reader.on(&self.folder.join(&case.name)), &index.to_string())
        };
        let ran: Result<Vec<Ran>, String> =
            self.cases.into_par_iter().enumerate().map(|(index, case)| on(index, case)).collect();
        let outcomes = ran.map(|ran| self.judged(reader, ran));
        ReaderReport { reader: reader.clone(), version, outcomes }
    }

    fn judged(&self, reader: &Reader, ran: Vec<Ran>) -> Vec<Outcome> {
        let limit = self.options.limits.memory_mib;
        let verdicts: Vec<Verdict> = ran
            .iter()
            .map(|ran| {
                let peak = ran.cost.map_or(0, |(_, peak)| peak);
                match verdict::verdict(ran.end, &ran.errors, peak, limit) {
                    Verdict::Accept if reader.gave_up(&ran.output) => Verdict::Reject,
                    verdict => verdict,
                }
            })
            .collect();
        let known = |format: Option<Format>| {
            let mut sound = self.cases.iter().zip(&verdicts);
            sound.any(|(case, verdict)| {
                case.duty == Duty::Read
                    && *verdict == Verdict::Accept
                    && (format.is_none() || case.format == format)
            })
        };
        let runs = self.cases.iter().zip(&verdicts).zip(ran);
        runs.map(|((case, verdict), ran)| Outcome {
            case: case.name.clone(),
            kind: case.kind,
            rule: case.rule,
            duty: case.duty,
            format: case.format,
            verdict: *verdict,
            judgement: verdict::judge(*verdict, case.duty, known(case.format)),
            end: ran.end,
            message: first_line(&ran.errors),
            printed: ran.printed,
            cost: ran.cost,
        })
        .collect()
    }
}

fn first_line(text: &[u8]) -> Vec<u8> {
    let lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    lines.into_iter().find(|line| !line.is_empty()).unwrap_or_default().to_vec()
}
