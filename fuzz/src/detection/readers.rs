//! Gives the same changes to other readers: GNU readelf and llvm-readobj. Each process gets many files, because
//! starting a process takes longer than reading a file.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use sframe_harness::limited::{Command, End, Folder, Limits, NotRun, Runner};
use tempfile::TempDir;

/// The number of files for one process that makes good use of it.
pub const BATCH: usize = 128;
/// Limits of a process. A batch of sound files needs a fraction of both.
const LIMITS: Limits = Limits { seconds: 1, memory_mib: 1024 };
/// The number of bytes of a process's output to keep, which is more than it can print in time.
const KEEP: usize = 64 << 20;
/// SIGXCPU on Linux, except on MIPS and PA-RISC.
const SIGXCPU: i32 = 24;
/// Observed: GNU readelf 2.44 on other versions, on standard output and with exit status 0.
const GIVES_UP: &str = "SFrame version not supported";

/// A reader of another project.
#[derive(Clone, Debug)]
pub struct OtherReader {
    /// Its name and version.
    pub name: String,
    /// The program.
    program: PathBuf,
    /// The program that watches over it.
    watcher: PathBuf,
}

/// The reaction of a reader to a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reaction {
    /// It is killed by a signal.
    Crash,
    /// It takes longer than the limit, or prints or writes more.
    Hang,
    /// It prints a message, or has an exit status, that it does not for the sound file.
    Notice,
    /// No reaction.
    Silence,
}

/// A change of a file: where, counted from the file's start, and the byte's new value.
pub type ByteChange = (u64, u8);

/// The readers of the fetched toolchains (`corpus/build fetch`); `watcher` is a program that calls
/// [`watch_if_asked`](sframe_harness::limited::watch_if_asked).
#[must_use]
pub fn other_readers(watcher: &Path) -> Vec<OtherReader> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/toolchains");
    let readers = [
        ("readelf 2.40", "2.40/bin/readelf"),
        ("readelf 2.44", "2.44/bin/readelf"),
        ("readelf 2.47.50", "2.47.50/bin/readelf"),
        ("llvm-readobj 23", "llvm-23/bin/llvm-readobj"),
    ];
    let reader = |(name, path): (&str, &str)| {
        let program = folder.join(path);
        program.exists().then(|| OtherReader::new(name, program, watcher))
    };
    readers.into_iter().filter_map(reader).collect()
}

impl OtherReader {
    /// The reader `program`, called `name`; `watcher` as in [`other_readers`].
    pub fn new(name: &str, program: impl Into<PathBuf>, watcher: &Path) -> OtherReader {
        OtherReader { name: name.to_owned(), program: program.into(), watcher: watcher.to_owned() }
    }

    /// Its reaction to each change of a file, where one process reads `batch` changed files, or [`BATCH`] if that is less;
    /// `None` if it does not read the unchanged file.
    ///
    /// # Errors
    /// The reader cannot be run, or its copies of the file cannot be written.
    ///
    /// # Panics
    /// A change is outside the file; or the reader ends with status 0 and has left out a file.
    pub fn reactions(
        &self,
        file: &[u8],
        changes: &[ByteChange],
        batch: usize,
    ) -> io::Result<Option<Vec<Reaction>>> {
        let batch = batch.clamp(1, BATCH);
        let copies = Copies::new(file, batch)?;
        if self.alone(&copies, 0)? != Reaction::Silence {
            return Ok(None);
        }
        let mut reactions = Vec::with_capacity(changes.len());
        for changes in changes.chunks(batch) {
            copies.change(changes)?;
            let files: Vec<usize> = (0..changes.len()).collect();
            let mut of_batch = vec![Reaction::Silence; changes.len()];
            self.judge(&copies, &files, &mut of_batch)?;
            reactions.extend(of_batch);
            copies.restore(changes, file)?;
        }
        Ok(Some(reactions))
    }

    /// Judges `files`. Silence is reported only for files of a process that ended with status 0.
    fn judge(
        &self,
        copies: &Copies,
        files: &[usize],
        reactions: &mut [Reaction],
    ) -> io::Result<()> {
        let mut rest = files;
        while !rest.is_empty() {
            rest = self.up_to_a_crash(copies, rest, reactions)?;
        }
        let silent: Vec<usize> =
            files.iter().copied().filter(|file| reactions[*file] == Reaction::Silence).collect();
        if silent.is_empty() {
            return Ok(());
        }
        let run = self.run(copies, &silent)?;
        if run.end == End::Status(0) && run.noticed.is_empty() {
            assert_eq!(run.last + 1, silent.len(), "{} has left out files", self.name);
            return Ok(());
        }
        // The output does not show which of the files it is.
        for file in silent {
            reactions[file] = self.alone(copies, file)?;
        }
        Ok(())
    }

    /// Judges files up to the first one that ended the process, and returns the files after it.
    fn up_to_a_crash<'f>(
        &self,
        copies: &Copies,
        files: &'f [usize],
        reactions: &mut [Reaction],
    ) -> io::Result<&'f [usize]> {
        let run = self.run(copies, files)?;
        for place in run.noticed {
            reactions[files[place]] = Reaction::Notice;
        }
        if matches!(run.end, End::Status(_)) && run.last + 1 == files.len() {
            return Ok(&[]);
        }
        // The end of its output may be lost with it, so that it may have been at a later file.
        let (_, mut rest) = files.split_at(run.last);
        while let [file, after @ ..] = rest {
            rest = after;
            reactions[*file] = self.alone(copies, *file)?;
            if reactions[*file] < Reaction::Notice {
                break;
            }
        }
        Ok(rest)
    }

    fn alone(&self, copies: &Copies, file: usize) -> io::Result<Reaction> {
        let run = self.run(copies, &[file])?;
        Ok(match run.end {
            End::Signal(SIGXCPU) | End::TimedOut | End::Printed | End::Wrote => Reaction::Hang,
            End::Signal(_) => Reaction::Crash,
            End::Status(0) if run.noticed.is_empty() => Reaction::Silence,
            End::Status(_) => Reaction::Notice,
        })
    }

    fn run(&self, copies: &Copies, files: &[usize]) -> io::Result<Run> {
        let mut words: Vec<OsString> = vec![self.program.clone().into(), "--sframe".into()];
        words.extend(files.iter().map(|file| copies.path(*file).into()));
        // GNU's and LLVM's readers flush standard output before a message, so that it follows the name of its file.
        let command = Command { together: true, keep: KEEP, ..Command::new(words) };
        let runner = Runner::new(&self.watcher, LIMITS);
        let finished = runner.run(&command, Folder::new()?).map_err(|error| match error {
            NotRun::System(error) => error,
            error => io::Error::other(format!("{} cannot be run: {error}", self.name)),
        })?;
        let ran = finished.into_ran();
        let (noticed, last) = self.noticed(&ran.output, copies, files);
        Ok(Run { end: ran.end, noticed, last })
    }

    /// The files (as indexes into `files`) that the output has messages about, and the last one that it names.
    fn noticed(&self, output: &[u8], copies: &Copies, files: &[usize]) -> (Vec<usize>, usize) {
        // Each message starts with this.
        let program = self.program.file_name().unwrap_or_default().to_string_lossy();
        let message = format!("{program}: ");
        let says = |line: &[u8], words: &str| {
            line.windows(words.len()).any(|window| window == words.as_bytes())
        };
        let (mut noticed, mut next) = (Vec::new(), 0);
        for line in output.split(|byte| *byte == b'\n') {
            let start =
                files.get(next).map(|file| format!("File: {}", copies.path(*file).display()));
            if start.is_some_and(|start| line == start.as_bytes()) {
                next += 1;
            } else if says(line, &message) || says(line, GIVES_UP) {
                noticed.push(next.saturating_sub(1));
            }
        }
        noticed.dedup();
        (noticed, next.saturating_sub(1))
    }
}

/// The results of a process.
struct Run {
    end: End,
    /// Indexes of the files that it printed messages about, in order.
    noticed: Vec<usize>,
    /// Index of the last file that it is known to have started with.
    last: usize,
}

/// Copies of a file in a folder of their own.
struct Copies {
    folder: TempDir,
    files: Vec<File>,
}

impl Copies {
    fn new(bytes: &[u8], count: usize) -> io::Result<Copies> {
        let folder = tempfile::tempdir()?;
        let mut files = Vec::with_capacity(count);
        for index in 0..count {
            let file = File::create(path_in(folder.path(), index))?;
            file.write_all_at(bytes, 0)?;
            files.push(file);
        }
        Ok(Copies { folder, files })
    }

    fn path(&self, index: usize) -> PathBuf {
        path_in(self.folder.path(), index)
    }

    /// Makes one change in each copy.
    fn change(&self, changes: &[ByteChange]) -> io::Result<()> {
        let mut copies = self.files.iter().zip(changes);
        copies.try_for_each(|(copy, (at, value))| copy.write_all_at(&[*value], *at))
    }

    fn restore(&self, changes: &[ByteChange], file: &[u8]) -> io::Result<()> {
        let old = |(at, _): &ByteChange| (*at, file[*at as usize]);
        self.change(&changes.iter().map(old).collect::<Vec<_>>())
    }
}

fn path_in(folder: &Path, index: usize) -> PathBuf {
    folder.join(format!("{index:04}"))
}
