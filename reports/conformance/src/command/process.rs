//! A running reader: its pipes, which never block, and its end.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{self, Child, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::fcntl::{FcntlArg, OFlag, fcntl};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;

/// The longest answer that is read, in bytes. That of the longest vector has some 40,000 bytes.
pub(super) const LONGEST_LINE: usize = 1 << 20;
/// How long a reader may take to end after its input has been closed.
const GRACE: Duration = Duration::from_millis(500);
/// The time between two looks at whether a reader has ended.
const PAUSE: Duration = Duration::from_millis(2);

/// A reader that is running.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    /// `None` once the reader has closed it, or has ended.
    input: Option<File>,
    /// `None` once this process no longer reads it.
    output: Option<File>,
    /// What the reader has not taken yet: of this request, or also of earlier ones that it answered without reading them.
    unwritten: Vec<u8>,
    /// What the reader has printed after its last answer.
    unread: Vec<u8>,
    /// How much of it has no line feed.
    searched: usize,
}

/// What became of the wait for a line.
pub(super) enum Waited {
    Line(Vec<u8>),
    /// The output is closed, and has no further line.
    Closed,
    /// There is no line in time.
    Late,
}

impl Process {
    pub(super) fn start(words: &[String]) -> io::Result<Process> {
        let (program, arguments) =
            words.split_first().ok_or(io::Error::other("no program is named"))?;
        let mut child = process::Command::new(program)
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("no pipes"));
        };
        let (input, output) = (unblocked(input.into())?, unblocked(output.into())?);
        let (input, output) = (Some(input), Some(output));
        Ok(Process { child, input, output, unwritten: Vec::new(), unread: Vec::new(), searched: 0 })
    }

    /// Sends a request, and returns the next line that the reader prints. The lines alone decide, and not whether the
    /// reader takes the request: how much fits into a pipe, and when a program has ended, differs from run to run.
    pub(super) fn ask(&mut self, request: &[u8], deadline: Instant) -> io::Result<Waited> {
        self.unwritten.extend_from_slice(request);
        loop {
            self.write()?;
            if let Some(line) = self.line() {
                return Ok(Waited::Line(line));
            }
            if deadline <= Instant::now() {
                return Ok(Waited::Late);
            }
            self.wait(deadline)?;
            if !self.read()? {
                let rest = std::mem::take(&mut self.unread);
                return Ok(if rest.is_empty() { Waited::Closed } else { Waited::Line(rest) });
            }
        }
    }

    /// Writes as much as the pipe takes.
    fn write(&mut self) -> io::Result<()> {
        while let Some(input) = self.input.as_mut().filter(|_| !self.unwritten.is_empty()) {
            match input.write(&self.unwritten) {
                Ok(written) => drop(self.unwritten.drain(..written)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => self.input = None,
                Err(error) => return Err(error),
            }
        }
        if self.input.is_none() {
            self.unwritten.clear();
        }
        Ok(())
    }

    /// The next complete line, or as much as is read of one.
    fn line(&mut self) -> Option<Vec<u8>> {
        let new = self.unread.get(self.searched..).unwrap_or_default();
        let end = new.iter().position(|byte| *byte == b'\n').map(|end| self.searched + end + 1);
        self.searched = self.unread.len();
        let end = end.or_else(|| (self.unread.len() >= LONGEST_LINE).then_some(LONGEST_LINE))?;
        self.searched = 0;
        Some(self.unread.drain(..end).collect())
    }

    /// Waits until a pipe is ready.
    fn wait(&self, deadline: Instant) -> io::Result<()> {
        let input = self.input.as_ref().filter(|_| !self.unwritten.is_empty());
        let output = self.output.iter().map(|end| PollFd::new(end.as_fd(), PollFlags::POLLIN));
        let input = input.map(|end| PollFd::new(end.as_fd(), PollFlags::POLLOUT));
        let mut ends: Vec<PollFd<'_>> = output.chain(input).collect();
        let left = deadline.saturating_duration_since(Instant::now());
        // Rounded up, so that the last wait is not a busy one.
        let left =
            PollTimeout::try_from(left + Duration::from_millis(1)).unwrap_or(PollTimeout::MAX);
        match poll(&mut ends, left) {
            Ok(_) | Err(Errno::EINTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads once. Returns whether the output is open.
    fn read(&mut self) -> io::Result<bool> {
        let Some(output) = &mut self.output else { return Ok(false) };
        let mut part = vec![0; 1 << 16];
        match output.read(&mut part) {
            Ok(0) => Ok(false),
            Ok(length) => {
                self.unread.extend_from_slice(part.get(..length).unwrap_or_default());
                Ok(true)
            }
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted
                ) =>
            {
                Ok(true)
            }
            Err(error) => Err(error),
        }
    }

    /// How the reader ends by itself; `None` if it does not in time.
    pub(super) fn ended(&mut self, deadline: Instant) -> io::Result<Option<ExitStatus>> {
        loop {
            let status = self.child.try_wait()?;
            if status.is_some() || Instant::now() >= deadline {
                return Ok(status);
            }
            thread::sleep(PAUSE);
        }
    }
}

/// Its pipes are closed first, which ends a reader that reads or writes. What is left of it and of its process group is killed.
impl Drop for Process {
    fn drop(&mut self) {
        (self.input, self.output) = (None, None);
        if !matches!(self.ended(Instant::now() + GRACE), Ok(Some(_)))
            && let Ok(group) = i32::try_from(self.child.id())
        {
            // Nobody has waited for the reader, so its number has not been given to another process.
            let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
            let _ = self.child.wait();
        }
    }
}

/// A pipe whose reads and writes return at once.
fn unblocked(pipe: OwnedFd) -> io::Result<File> {
    fcntl(&pipe, FcntlArg::F_SETFL(OFlag::O_NONBLOCK))?;
    Ok(File::from(pipe))
}
