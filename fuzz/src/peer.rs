//! Another reader: libsframe, in a separate process (`ask-libsframe`), because it may crash or hang. The process reads
//! section after section until then.
//!
//! This is a conversation with a program of this package, not a [run under limits](sframe_harness::limited) of a
//! program of another project: the time limit is that of each answer, and a new process for each section would take
//! longer than the answer.
//!
//! A request is the length of the section and the number of PCs (32 bits each), the section, and the
//! PCs (64 bits each, from the section's start), little-endian. An [`Answer`] comes as lines of
//! text.

mod answer;
mod libraries;

pub use answer::{Answer, Function, Meaning, Row, Stored};
pub use libraries::libraries;

use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// How long libsframe may take for a section.
const PATIENCE: Duration = Duration::from_secs(1);

/// The reason why libsframe has not answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Failure {
    /// Its process was killed by this signal, or exited with this status.
    Crashed(i32),
    /// It has not answered in time.
    TimedOut,
    /// Its answer cannot be read.
    Garbled,
}

/// A copy of libsframe.
#[derive(Debug)]
pub struct Peer {
    /// The program that asks it.
    program: PathBuf,
    library: PathBuf,
    process: Option<Process>,
}

#[derive(Debug)]
struct Process {
    child: Child,
    input: UnixStream,
    lines: Receiver<String>,
    /// Sends the lines until the process has ended.
    listener: Option<JoinHandle<()>>,
}

impl Peer {
    /// The library at a path, which the program `ask-libsframe` at another path calls.
    #[must_use]
    pub const fn new(program: PathBuf, library: PathBuf) -> Peer {
        Peer { program, library, process: None }
    }

    /// The library's path.
    #[must_use]
    pub fn library(&self) -> &Path {
        &self.library
    }

    /// Asks libsframe about a section and the rows at `pcs`, in a new process.
    ///
    /// # Errors
    /// As [`Peer::ask`].
    ///
    /// # Panics
    /// As [`Peer::ask`].
    pub fn ask_afresh(&mut self, section: &[u8], pcs: &[i64]) -> Result<Answer, Failure> {
        self.process = None;
        self.ask(section, pcs)
    }

    /// Asks libsframe about a section and the rows at `pcs`. Earlier sections may have damaged the memory of its
    /// process, so that it fails on a section that is not the cause.
    ///
    /// # Errors
    /// libsframe has crashed or hangs. The next section gets a new process.
    ///
    /// # Panics
    /// The process cannot be started.
    pub fn ask(&mut self, section: &[u8], pcs: &[i64]) -> Result<Answer, Failure> {
        let mut process = match self.process.take() {
            Some(process) => process,
            None => Process::start(&self.program, &self.library)
                .unwrap_or_else(|error| panic!("{}: {error}", self.program.display())),
        };
        // If this fails, reading the answer fails, too.
        let _ = process.send(section, pcs);
        let mut lines = Vec::new();
        loop {
            match process.lines.recv_timeout(PATIENCE) {
                Ok(line) if line == "done" => break,
                Ok(line) => lines.push(line),
                Err(RecvTimeoutError::Timeout) => {
                    process.child.kill().expect("our own child");
                    process.child.wait().expect("our own child");
                    return Err(Failure::TimedOut);
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let status = process.child.wait().expect("our own child");
                    let number = status.signal().or(status.code());
                    return Err(Failure::Crashed(number.expect("a signal or a status")));
                }
            }
        }
        let answer = Answer::parse(&lines).ok_or(Failure::Garbled)?;
        self.process = Some(process);
        Ok(answer)
    }
}

impl Process {
    fn start(program: &Path, library: &Path) -> io::Result<Process> {
        // Not a pipe: libFuzzer's `main` does not ignore SIGPIPE as Rust's does, so that writing to a closed pipe would
        // end this process.
        let (input, theirs) = UnixStream::pair()?;
        let mut child = Command::new(program)
            .arg(library)
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let output = BufReader::new(child.stdout.take().expect("piped"));
        // Bounded, so that an endless answer does not fill the memory.
        let (sender, lines) = sync_channel(1 << 12);
        let listener = std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Ok(Process { child, input, lines, listener: Some(listener) })
    }

    fn send(&mut self, section: &[u8], pcs: &[i64]) -> io::Result<()> {
        let mut request = Vec::with_capacity(8 + section.len() + 8 * pcs.len());
        for number in [section.len(), pcs.len()] {
            request.extend(u32::try_from(number).expect("small").to_le_bytes());
        }
        request.extend(section);
        request.extend(pcs.iter().flat_map(|pc| pc.to_le_bytes()));
        self.input.write_all(&request)?;
        self.input.flush()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may be waiting for more input, or have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        // LeakSanitizer reports threads that have not ended yet.
        while self.lines.recv().is_ok() {}
        let _ = self.listener.take().map(JoinHandle::join);
    }
}
