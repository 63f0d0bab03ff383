//! The client side: starts a watcher for each program, and waits for its reply.

use std::error::Error;
use std::fmt;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{self, Child, ChildStdin, Stdio};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::command::Command;
use super::end::Ran;
use super::folder::Folder;
use super::limits::{Limits, PATIENCE};
use super::messages::{Reply, Request, parse_reply};
use super::processes;
use super::watcher::WATCHER;

/// How long a watcher may take to kill a program.
const GRACE: Duration = Duration::from_secs(15);
/// The maximum time between two calls of [`Runner::stop`].
const PAUSE: Duration = Duration::from_millis(50);

/// Runs programs under limits, each with its own watcher. Any number of programs may run at a time.
pub struct Runner<'a> {
    /// The program that acts as watcher: it must call [`watch`](super::watch) if its arguments are [`WATCHER`] and a
    /// folder.
    pub watcher: &'a Path,
    /// The limits for each program.
    pub limits: Limits,
    /// Called repeatedly while a program runs; returns whether to kill it.
    pub stop: &'a (dyn Fn() -> bool + Sync),
}

/// A program that has ended. Its folder is removed when this value is dropped.
#[derive(Debug)]
pub struct Finished {
    /// What the program did.
    pub ran: Ran,
    // It removes the folder: it is dropped first.
    _watcher: Watcher,
    folder: Folder,
}

/// The reason why a program has no result.
#[derive(Debug)]
pub enum NotRun {
    /// The program could not be started: why, in the words of its watcher, which is another process.
    NotStarted(String),
    /// The watcher failed.
    WatcherFailed,
    /// It was given up, because it did not end in time in any of this number of runs on sound sections.
    GivenUp(usize),
    /// [`Runner::stop`] returned true.
    Stopped,
    /// The watcher could not be started.
    System(io::Error),
}

impl<'a> Runner<'a> {
    /// A runner that never stops a program early.
    #[must_use]
    pub fn new(watcher: &'a Path, limits: Limits) -> Runner<'a> {
        Runner { watcher, limits, stop: &|| false }
    }

    /// Runs `command`. Its current folder and the location of its temporary files is the [work folder](Folder::work) of
    /// `folder`; its messages are in English (`LC_ALL`).
    ///
    /// # Errors
    /// Returns why there is no result, see [`NotRun`]. The folder is removed.
    pub fn run(&self, command: &Command, folder: Folder) -> Result<Finished, NotRun> {
        if (self.stop)() {
            return Err(NotRun::Stopped);
        }
        let mut watcher = Watcher::start(self.watcher, &folder)?;
        let request = Request { command: command.clone(), limits: self.limits };
        if let Some(lifeline) = &mut watcher.lifeline {
            // If this fails, there will be no reply either.
            let _ = request.write(lifeline);
        }
        match self.reply(&mut watcher)? {
            Some(Ok(ran)) => Ok(Finished { ran, _watcher: watcher, folder }),
            Some(Err(why)) => Err(NotRun::NotStarted(why)),
            None => {
                let stopped = watcher.lifeline.is_none() || (self.stop)();
                watcher.kill();
                Err(match stopped {
                    true => NotRun::Stopped,
                    false => NotRun::WatcherFailed,
                })
            }
        }
    }

    /// The watcher's reply; `None` if it ends without one, or takes too long. Closes the lifeline when it is time to
    /// stop.
    fn reply(&self, watcher: &mut Watcher) -> io::Result<Option<Reply>> {
        let mut deadline = Instant::now()
            + Duration::from_secs(self.limits.seconds.saturating_mul(PATIENCE))
            + GRACE;
        let (mut received, mut part) = (Vec::new(), vec![0; 1 << 16]);
        let Some(stream) = &mut watcher.child.stdout else { return Ok(None) };
        while Instant::now() < deadline {
            if watcher.lifeline.is_some() && (self.stop)() {
                watcher.lifeline = None;
                deadline = deadline.min(Instant::now() + GRACE);
            }
            let mut end = [PollFd::new(stream.as_fd(), PollFlags::POLLIN)];
            let pause = PollTimeout::try_from(PAUSE).unwrap_or(PollTimeout::ZERO);
            // If a signal interrupts the call, there is nothing to read.
            if !matches!(poll(&mut end, pause), Ok(1..)) {
                continue;
            }
            match stream.read(&mut part)? {
                0 => break,
                length => received.extend_from_slice(part.get(..length).unwrap_or_default()),
            }
            if let Some(reply) = parse_reply(&received) {
                return Ok(Some(reply));
            }
        }
        Ok(None)
    }
}

impl Finished {
    /// The folder, with the files that the program has left in it.
    #[must_use]
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// The result of the program. The folder is removed.
    #[must_use]
    pub fn into_ran(self) -> Ran {
        self.ran
    }
}

impl fmt::Debug for Runner<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Runner { watcher, limits, .. } = self;
        f.debug_struct("Runner").field("watcher", watcher).field("limits", limits).finish()
    }
}

impl fmt::Display for NotRun {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotRun::NotStarted(why) => f.write_str(why),
            NotRun::WatcherFailed => f.write_str("its watcher process failed"),
            NotRun::GivenUp(runs) => write!(
                f,
                "it did not end in time on the first {runs} sound sections, and was given up"
            ),
            NotRun::Stopped => f.write_str("stopped"),
            NotRun::System(error) => write!(f, "{error}"),
        }
    }
}

impl Error for NotRun {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            NotRun::System(error) => Some(error),
            _ => None,
        }
    }
}

impl From<io::Error> for NotRun {
    fn from(error: io::Error) -> NotRun {
        NotRun::System(error)
    }
}

/// A watcher process.
#[derive(Debug)]
struct Watcher {
    child: Child,
    /// The watcher's standard input. When it closes, the watcher kills the program and removes the folder. It closes
    /// when this process ends, for whatever reason.
    lifeline: Option<ChildStdin>,
}

impl Watcher {
    fn start(program: &Path, folder: &Folder) -> io::Result<Watcher> {
        let mut child = process::Command::new(program)
            .arg(WATCHER)
            .arg(folder.path())
            .env("LC_ALL", "C")
            .env_remove("LANGUAGE")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let lifeline = child.stdin.take();
        Ok(Watcher { child, lifeline })
    }

    /// Kills a watcher that has not ended by itself and may have left a program running.
    fn kill(&mut self) {
        // Nobody has waited for the watcher yet, so its id has not been reused.
        processes::end_watcher(self.child.id());
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.lifeline = None;
        let _ = self.child.wait();
    }
}
