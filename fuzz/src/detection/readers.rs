//! Other readers on the same changes: GNU readelf and llvm-readobj, which are given many files at a
//! time, for a process costs more than what it reads.

use std::fs::File;
use std::io::{self, BufRead, BufReader, PipeReader, Read};
use std::os::unix::fs::FileExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use tempfile::TempDir;

/// Files of a process, at most.
const BATCH: usize = 128;
/// Limits of a process: seconds of processor time, and KiB of address space. A batch of sound files takes a fraction
/// of both.
const LIMITS: &str = "ulimit -c 0; ulimit -S -t 1; ulimit -v 1048576; exec \"$@\"";
/// SIGXCPU, on every machine that Linux runs on but MIPS and PA-RISC.
const SIGXCPU: i32 = 24;
/// A line longer than this is none that a reader means to write.
const LINE: u64 = 1 << 16;
/// Observed: GNU readelf 2.44 on other versions, on standard output and with exit status 0.
const GIVES_UP: &str = "SFrame version not supported";

/// A reader of another project.
#[derive(Clone, Debug)]
pub struct OtherReader {
    /// Its name and version.
    pub name: String,
    /// The program.
    program: PathBuf,
}

/// What a reader does with a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reaction {
    /// It is ended by a signal.
    Crash,
    /// It takes longer than the limit.
    Hang,
    /// It says something, or has an exit status, that it does not of the sound file.
    Notice,
    /// None.
    Silence,
}

/// A change of a file: where, counted from the file's start, and the byte's new value.
pub type ByteChange = (u64, u8);

/// The readers of the fetched toolchains (`corpus/build fetch`).
#[must_use]
pub fn other_readers() -> Vec<OtherReader> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/toolchains");
    let readers = [
        ("readelf 2.40", "2.40/bin/readelf"),
        ("readelf 2.44", "2.44/bin/readelf"),
        ("readelf 2.47.50", "2.47.50/bin/readelf"),
        ("llvm-readobj 23", "llvm-23/bin/llvm-readobj"),
    ];
    let reader = |(name, path): (&str, &str)| {
        let program = folder.join(path);
        program.exists().then(|| OtherReader { name: name.to_owned(), program })
    };
    readers.into_iter().filter_map(reader).collect()
}

impl OtherReader {
    /// What it does with each change of a file, alone or `together` with others in one process;
    /// `None` where it does not read the file as it is.
    ///
    /// # Errors
    /// It cannot be run, or the copies that it is given not be written.
    ///
    /// # Panics
    /// A change is not in the file; or the reader ends well and has left out a file.
    pub fn reactions(
        &self,
        file: &[u8],
        changes: &[ByteChange],
        together: bool,
    ) -> io::Result<Option<Vec<Reaction>>> {
        let batch = if together { BATCH } else { 1 };
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

    /// Judges `files`. Whoever is silent in the end has been in a process that ended with status 0.
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
        if run.status.success() && run.noticed.is_empty() {
            assert_eq!(run.last + 1, silent.len(), "{} has left out files", self.name);
            return Ok(());
        }
        // Nothing that was printed tells which of the files it is.
        for file in silent {
            reactions[file] = self.alone(copies, file)?;
        }
        Ok(())
    }

    /// Judges files from the first on, and returns those behind the first one that ended the process.
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
        if run.status.code().is_some() && run.last + 1 == files.len() {
            return Ok(&[]);
        }
        // What it has printed last may have gone with it, so that it may have been one behind.
        let (_, mut rest) = files.split_at(run.last);
        while let [file, behind @ ..] = rest {
            rest = behind;
            reactions[*file] = self.alone(copies, *file)?;
            if reactions[*file] < Reaction::Notice {
                break;
            }
        }
        Ok(rest)
    }

    fn alone(&self, copies: &Copies, file: usize) -> io::Result<Reaction> {
        let run = self.run(copies, &[file])?;
        Ok(match run.status.signal() {
            Some(SIGXCPU) => Reaction::Hang,
            Some(_) => Reaction::Crash,
            None if run.status.success() && run.noticed.is_empty() => Reaction::Silence,
            None => Reaction::Notice,
        })
    }

    fn run(&self, copies: &Copies, files: &[usize]) -> io::Result<Run> {
        let (output, writer) = io::pipe()?;
        let mut command = Command::new("sh");
        command.args(["-c", LIMITS, "sh"]).arg(&self.program).arg("--sframe");
        command.args(files.iter().map(|file| name(*file)));
        command.current_dir(copies.folder.path()).env("LC_ALL", "C").stdin(Stdio::null());
        command.stdout(writer.try_clone()?).stderr(writer);
        let mut child = command.spawn()?;
        // Its ends of the pipe, or there would be no end.
        drop(command);
        let said = self.said(output, files);
        let status = child.wait()?;
        let (noticed, last) = said?;
        // The shell's own (POSIX, "Exit Status for Commands"): no such program, or none that can be executed.
        if let Some(code @ (126 | 127)) = status.code() {
            return Err(io::Error::other(format!("{} cannot be run: status {code}", self.name)));
        }
        Ok(Run { status, noticed, last })
    }

    /// The files (by their place among those given) of which something is said, and the last one that
    /// was started with. Both streams are one: GNU's and LLVM's readers write out what they have before a message, so
    /// that it stands behind the name of its file.
    fn said(&self, output: PipeReader, files: &[usize]) -> io::Result<(Vec<usize>, usize)> {
        // In front of each message.
        let program = self.program.file_name().unwrap_or_default().to_string_lossy();
        let message = format!("{program}: ");
        let says = |line: &[u8], words: &str| {
            line.windows(words.len()).any(|window| window == words.as_bytes())
        };
        let mut output = BufReader::new(output);
        let (mut noticed, mut next, mut line) = (Vec::new(), 0, Vec::new());
        while output.by_ref().take(LINE).read_until(b'\n', &mut line)? > 0 {
            let start = files.get(next).map(|file| format!("File: {}\n", name(*file)));
            if start.is_some_and(|start| line == start.as_bytes()) {
                next += 1;
            } else if says(&line, &message) || says(&line, GIVES_UP) {
                noticed.push(next.saturating_sub(1));
            }
            line.clear();
        }
        noticed.dedup();
        Ok((noticed, next.saturating_sub(1)))
    }
}

/// What a process did.
struct Run {
    status: ExitStatus,
    /// Places of files, in order.
    noticed: Vec<usize>,
    /// The last place that it came to, as far as it is known.
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
            let file = File::create(folder.path().join(name(index)))?;
            file.write_all_at(bytes, 0)?;
            files.push(file);
        }
        Ok(Copies { folder, files })
    }

    /// One change in each copy.
    fn change(&self, changes: &[ByteChange]) -> io::Result<()> {
        let mut copies = self.files.iter().zip(changes);
        copies.try_for_each(|(copy, (at, value))| copy.write_all_at(&[*value], *at))
    }

    fn restore(&self, changes: &[ByteChange], file: &[u8]) -> io::Result<()> {
        let old = |(at, _): &ByteChange| (*at, file[*at as usize]);
        self.change(&changes.iter().map(old).collect::<Vec<_>>())
    }
}

fn name(index: usize) -> String {
    format!("{index:04}")
}

#[cfg(test)]
mod tests {
    use super::OtherReader;

    /// It would seem to refuse every file.
    #[test]
    fn a_reader_that_cannot_be_run_is_an_error() {
        let reader = OtherReader { name: "none".to_owned(), program: "/no/such/reader".into() };
        let error = reader.reactions(b"file", &[], true).expect_err("there is none");
        assert_eq!(error.to_string(), "none cannot be run: status 127");
    }
}
