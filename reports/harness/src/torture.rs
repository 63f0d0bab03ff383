//! Runs readers of other projects, and this one, on malformed sections and on sections that promise far more than they
//! contain. Reports which of them crash, hang, use up the memory, fill the disk, or accept a file that cannot be read.
//!
//! A reader is any command that takes an ELF file. It runs once for each case, [under limits](crate::limited). It need
//! not support every format: if it refuses the sound section of a version and machine, it may refuse the others of that
//! kind, too.

mod case;
mod cases;
pub mod json;
mod reader;
mod report;
mod text;
mod verdict;

pub use case::{Case, Duty, Format, Kind};
pub use cases::all;
pub use reader::{Reader, ReaderError};
pub use report::{Outcome, ReaderReport, Report};
pub use text::Text;
pub use verdict::{Judgement, Verdict};

use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io::{self, Write};
use std::path::{Path, PathBuf, absolute};
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::ThreadPoolBuilder;
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

use crate::limited::{Command, End, Finished, Folder, Limits, NotRun, Ran, Runner};

/// The number of sound sections on which a reader may run until the limit of time.
const PATIENCE: usize = 3;

/// The options of a run.
#[derive(Clone, Debug)]
pub struct Options {
    /// The limits for each case.
    pub limits: Limits,
    /// The number of cases that run at a time; 0 for the number of processors.
    pub threads: usize,
    /// The folder in which to keep the files.
    pub keep: Option<PathBuf>,
    /// The program `sframe-check`, which acts as the readers' watcher.
    pub program: PathBuf,
}

/// The progress of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress<'a> {
    /// The reader that is running.
    pub reader: &'a Reader,
    /// The number of finished cases of all readers.
    pub done: u64,
    /// The number of all cases of all readers.
    pub cases: u64,
}

/// Observes a run and can stop it.
pub trait Follow: Sync {
    /// Receives the progress: after each case, and several times a second.
    fn progress(&self, progress: Progress<'_>);

    /// Whether to stop: running readers are killed, no other is started, and the report contains the cases that have
    /// finished.
    fn stop(&self) -> bool;
}

/// Runs every reader on every case.
///
/// # Errors
/// Returns an error if files cannot be written, or threads or processes cannot be started. If a reader cannot be run,
/// the report states the reason.
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

/// Writes the file of a case below a folder, and returns its path. A file that is there stays: it is an error unless it has the same
/// bytes, as after an earlier run.
fn write(folder: &Path, case: &Case) -> io::Result<PathBuf> {
    let path = folder.join(&case.name);
    let made = path.parent().map_or(Ok(()), fs::create_dir_all);
    let written = made.and_then(|()| match File::create_new(&path) {
        Ok(mut file) => file.write_all(&case.bytes),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => is_kept(&path, case),
        Err(error) => Err(error),
    });
    let named =
        |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
    written.map_err(named).map(|()| path.clone())
}

/// Whether the file at a path is that of the case.
fn is_kept(path: &Path, case: &Case) -> io::Result<()> {
    let size = fs::symlink_metadata(path).ok().filter(Metadata::is_file).map(|found| found.len());
    match size == Some(case.bytes.len() as u64) && fs::read(path)? == case.bytes {
        true => Ok(()),
        false => Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            "this is another file, which is not replaced: name a new folder",
        )),
    }
}

/// Runs one reader on all cases.
struct Run<'a> {
    options: &'a Options,
    /// The folder of the cases' files, if they are kept.
    keep: Option<&'a Path>,
    cases: &'a [Case],
    reader: &'a Reader,
    follow: &'a dyn Follow,
    /// The number of finished cases of all readers.
    done: &'a AtomicU64,
    /// The number of cases of all readers.
    total: u64,
}

impl Run<'_> {
    /// Runs the reader on all cases.
    fn all(&self) -> io::Result<ReaderReport> {
        let (version, outcomes) = match self.version() {
            Ok(version) => (version, self.outcomes()),
            Err(error) => {
                self.done.fetch_add(self.cases.len() as u64, Ordering::Relaxed);
                (None, Err(error))
            }
        };
        let outcomes = match outcomes {
            Ok(outcomes) => Ok(outcomes),
            Err(NotRun::System(error)) => return Err(error),
            Err(error) => Err(error),
        };
        Ok(ReaderReport { reader: self.reader.clone(), version, outcomes })
    }

    /// The first line that the reader prints for `--version`.
    fn version(&self) -> Result<Option<Vec<u8>>, NotRun> {
        let ran = self.command(self.reader.version_command(), Folder::new()?)?;
        let ran = ran.filter(|ran| ran.end == End::Status(0));
        Ok(ran.map(|ran| first_line(&ran.output)))
    }

    /// Runs all cases until stopped. The sound ones come first, because they show which formats the reader supports. A reader that
    /// ends on none of the first is given up: the others would take hours.
    fn outcomes(&self) -> Result<Vec<Outcome>, NotRun> {
        let (first, others) = self.cases.split_at(PATIENCE.min(self.cases.len()));
        let mut ran = self.run_on(first)?;
        let hangs = |(_, ran): &(&Case, Ran)| {
            verdict::verdict(ran, self.options.limits.memory_mib) == Verdict::Hang
        };
        if ran.len() == PATIENCE && ran.iter().all(hangs) {
            self.done.fetch_add(others.len() as u64, Ordering::Relaxed);
            return Err(NotRun::GivenUp(PATIENCE));
        }
        for cases in others.chunk_by(|a, b| (a.duty == Duty::Read) == (b.duty == Duty::Read)) {
            ran.extend(self.run_on(cases)?);
        }
        Ok(self.judged(ran))
    }

    /// Runs these cases until stopped.
    fn run_on<'c>(&self, cases: &'c [Case]) -> Result<Vec<(&'c Case, Ran)>, NotRun> {
        let run = |case| self.case(case).map(|ran| ran.map(|ran| (case, ran)));
        let results = cases.par_iter().map(run).collect::<Result<Vec<_>, _>>()?;
        Ok(results.into_iter().flatten().collect())
    }

    /// The result of the reader for a case; `None` if it was stopped.
    fn case(&self, case: &Case) -> Result<Option<Ran>, NotRun> {
        // Without this, an interrupted run would write the files of all cases that are left.
        if self.follow.stop() {
            return Ok(None);
        }
        let folder = Folder::new()?;
        let file = match self.keep {
            Some(kept) => kept.join(&case.name),
            None => write(&folder.path().join("cases"), case)?,
        };
        let ran = self.command(self.reader.on(&file), folder)?;
        self.done.fetch_add(1, Ordering::Relaxed);
        self.report_progress();
        Ok(ran)
    }

    /// The result of a command; `None` if it was stopped.
    fn command(&self, words: Vec<OsString>, folder: Folder) -> Result<Option<Ran>, NotRun> {
        let stop = || {
            self.report_progress();
            self.follow.stop()
        };
        let Options { program, limits, .. } = self.options;
        let runner = Runner { watcher: program, limits: *limits, stop: &stop };
        match runner.run(&Command::new(words), folder).map(Finished::into_ran) {
            Err(NotRun::Stopped) => Ok(None),
            ran => ran.map(Some),
        }
    }

    fn report_progress(&self) {
        let done = self.done.load(Ordering::Relaxed);
        self.follow.progress(Progress { reader: self.reader, done, cases: self.total });
    }

    fn judged(&self, ran: Vec<(&Case, Ran)>) -> Vec<Outcome> {
        let limit = self.options.limits.memory_mib;
        let verdict = |ran: &Ran| match verdict::verdict(ran, limit) {
            Verdict::Accept if self.reader.gave_up(&ran.output) => Verdict::Reject,
            verdict => verdict,
        };
        let verdicts: Vec<Verdict> = ran.iter().map(|(_, ran)| verdict(ran)).collect();
        // Whether it accepts sound sections of a version and machine.
        let reads = |format: Option<Format>| {
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
            judgement: match verdict {
                Verdict::Reject if !reads(case.format) => Judgement::OutOfScope,
                verdict => verdict::judge(*verdict, case.duty),
            },
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
