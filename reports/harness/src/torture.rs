//! Readers of other projects, and this one, on malformed sections and on such as promise far more
//! than they have: who crashes, hangs, takes all memory, fills the disk, or takes for sound what cannot be read?
//!
//! A reader is any command that takes an ELF file, and runs once for each case, in a process of its
//! own under limits. What a reader does not know it need not read: a version or machine of which it
//! refuses a sound section is out of its scope, as long as it refuses in peace.

mod bombs;
mod cases;
mod child;
mod corpus;
mod defects;
mod folder;
mod headers;
mod image;
pub mod json;
mod limited;
pub mod limits;
mod processes;
mod reader;
mod report;
mod sound;
mod streams;
mod structure;
mod text;
mod verdict;

pub use cases::{Case, Duty, Format, Kind, all};
pub use limited::run_limited;
pub use limits::Limits;
pub use reader::Reader;
pub use report::{Outcome, ReaderReport, Report};
pub use text::Text;
pub use verdict::{End, Judgement, Verdict};

use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Path, PathBuf, absolute};
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::ThreadPoolBuilder;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use child::Watchers;
use folder::Folder;
use limited::Ran;

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

/// How far it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress<'a> {
    /// The reader at work.
    pub reader: &'a Reader,
    /// Cases that are done, of all readers.
    pub done: u64,
    /// Cases that there are, for all readers.
    pub cases: u64,
}

/// Who follows it.
pub trait Follow: Sync {
    /// Takes note of how far it is. It is called for each case that is done, and some times a second in any case.
    fn progress(&self, progress: Progress<'_>);

    /// Whether to stop: readers at work are ended, no other is started, and the report has what is known.
    fn stop(&self) -> bool;
}

/// Runs every reader on every case.
///
/// # Errors
/// The files cannot be written, or the threads or processes not be started. What is the matter with a reader is in the
/// report.
pub fn torture(readers: &[Reader], options: &Options, follow: &dyn Follow) -> io::Result<Report> {
    let cases = all();
    let keep = options.keep.as_ref().map(absolute).transpose()?;
    if let Some(folder) = &keep {
        cases.iter().try_for_each(|case| write(folder, case).map(drop))?;
    }
    let total = cases.len().saturating_mul(readers.len()) as u64;
    let done = AtomicU64::new(0);
    let run = |reader: &Reader| {
        let run = Run {
            options,
            keep: keep.as_deref(),
            cases: &cases,
            reader,
            follow,
            done: &done,
            total,
        };
        run.all()
    };
    let threads = options.threads.min(cases.len());
    let pool = ThreadPoolBuilder::new().num_threads(threads).build().map_err(io::Error::other)?;
    let readers = pool.install(|| readers.iter().map(run).collect::<io::Result<Vec<_>>>())?;
    let report = Report {
        limits: options.limits,
        cases: cases.len() as u64,
        interrupted: false,
        kept: options.keep.clone(),
        readers,
    };
    let missing = report
        .readers
        .iter()
        .any(|reader| reader.outcomes.as_ref().is_ok_and(|o| o.len() < cases.len()));
    Ok(Report { interrupted: missing, ..report })
}

/// Writes the file of a case below a folder, and returns its path.
fn write(folder: &Path, case: &Case) -> io::Result<PathBuf> {
    let path = folder.join(&case.name);
    let written = path
        .parent()
        .map_or(Ok(()), fs::create_dir_all)
        .and_then(|()| fs::write(&path, &case.bytes));
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    written.map_err(named).map(|()| path.clone())
}

/// A reader at work.
struct Run<'a> {
    options: &'a Options,
    /// Where the cases are, if they are to stay.
    keep: Option<&'a Path>,
    cases: &'a [Case],
    reader: &'a Reader,
    follow: &'a dyn Follow,
    /// Cases that are done, of all readers.
    done: &'a AtomicU64,
    /// Cases of all readers.
    total: u64,
}

impl Run<'_> {
    /// Runs the reader on all cases: the sound ones first, for they tell what it knows.
    fn all(&self) -> io::Result<ReaderReport> {
        let report =
            |version, outcomes| ReaderReport { reader: self.reader.clone(), version, outcomes };
        let version = match self.command(&self.reader.version_command(), &Folder::new()?)? {
            child::Outcome::Ran(ran) => {
                (ran.end == End::Status(0)).then(|| first_line(&ran.output))
            }
            child::Outcome::Stopped => None,
            child::Outcome::Failed(why) => {
                self.done.fetch_add(self.cases.len() as u64, Ordering::Relaxed);
                return Ok(report(None, Err(why)));
            }
        };
        let mut ran = Vec::new();
        for cases in self.cases.chunk_by(|a, b| (a.duty == Duty::Read) == (b.duty == Duty::Read)) {
            let outcomes: io::Result<Vec<_>> =
                cases.par_iter().map(|case| self.case(case)).collect();
            for (case, outcome) in cases.iter().zip(outcomes?) {
                match outcome {
                    child::Outcome::Ran(outcome) => ran.push((case, outcome)),
                    child::Outcome::Stopped => {}
                    child::Outcome::Failed(why) => return Ok(report(version, Err(why))),
                }
            }
        }
        Ok(report(version, Ok(self.judged(ran))))
    }

    fn case(&self, case: &Case) -> io::Result<child::Outcome> {
        let folder = Folder::new()?;
        let file = match self.keep {
            Some(kept) => kept.join(&case.name),
            None => write(&folder.path().join("cases"), case)?,
        };
        let outcome = self.command(&self.reader.on(&file), &folder)?;
        self.done.fetch_add(1, Ordering::Relaxed);
        self.tell();
        Ok(outcome)
    }

    fn command(&self, command: &[OsString], folder: &Folder) -> io::Result<child::Outcome> {
        let Options { program, limits, .. } = self.options;
        let stop = || {
            self.tell();
            self.follow.stop()
        };
        Watchers { program, limits: *limits, stop: &stop }.run(command, folder)
    }

    fn tell(&self) {
        let done = self.done.load(Ordering::Relaxed);
        self.follow.progress(Progress { reader: self.reader, done, cases: self.total });
    }

    fn judged(&self, ran: Vec<(&Case, Ran)>) -> Vec<Outcome> {
        let limit = self.options.limits.memory_mib;
        let verdict = |ran: &Ran| {
            let peak = ran.cost.map_or(0, |(_, peak)| peak);
            match verdict::verdict(ran.end, &ran.errors, peak, limit) {
                Verdict::Accept if self.reader.gave_up(&ran.output) => Verdict::Reject,
                verdict => verdict,
            }
        };
        let verdicts: Vec<Verdict> = ran.iter().map(|(_, ran)| verdict(ran)).collect();
        let known = |format: Option<Format>| {
            let mut sound = ran.iter().zip(&verdicts);
            sound.any(|((case, _), verdict)| {
                case.duty == Duty::Read
                    && *verdict == Verdict::Accept
                    && (format.is_none() || case.format == format)
            })
        };
        let outcome = |((case, ran), verdict): (&(&Case, Ran), &Verdict)| Outcome {
            case: case.name.clone(),
            kind: case.kind,
            rule: case.rule,
            reason: case.reason,
            duty: case.duty,
            format: case.format,
            verdict: *verdict,
            judgement: verdict::judge(*verdict, case.duty, known(case.format)),
            end: ran.end,
            message: first_line(&ran.errors),
            printed: ran.printed,
            cost: ran.cost,
        };
        ran.iter().zip(&verdicts).map(outcome).collect()
    }
}

fn first_line(text: &[u8]) -> Vec<u8> {
    let lines = text.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    lines.into_iter().find(|line| !line.is_empty()).unwrap_or_default().to_vec()
}
