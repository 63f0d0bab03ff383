//! Watchers: each runs a reader on one case, under limits, and reports what came of it.

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};

use super::folder::Folder;
use super::limited::Ran;
use super::limits::{Limits, PATIENCE};
use super::processes;

/// How long a watcher may take to end a reader.
const GRACE: Duration = Duration::from_secs(15);
/// The longest time between two questions whether to stop.
const PAUSE: Duration = Duration::from_millis(50);

/// What came of a command.
#[derive(Debug)]
pub(super) enum Outcome {
    /// It ran.
    Ran(Ran),
    /// Why it could not be run.
    Failed(String),
    /// It was ended, for nobody waits for it any longer.
    Stopped,
}

/// Starts watchers.
pub(super) struct Watchers<'a> {
    /// The program whose `limited` a watcher is.
    pub(super) program: &'a Path,
    pub(super) limits: Limits,
    /// Asked again and again while a watcher is at work: whether to stop.
    pub(super) stop: &'a (dyn Fn() -> bool + Sync),
}

impl Watchers<'_> {
    /// Runs `command` in `folder`.
    ///
    /// # Errors
    /// The watcher cannot be started.
    pub(super) fn run(&self, command: &[OsString], folder: &Folder) -> io::Result<Outcome> {
        if (self.stop)() {
            return Ok(Outcome::Stopped);
        }
        let mut watcher = self.start(command, folder)?;
        let (report, stopped) = self.report(&mut watcher)?;
        let ran = serde_json::from_slice::<Result<Ran, String>>(&report);
        if ran.is_err() {
            // It did not get to its end, and may have left a reader behind. Nobody has waited for it yet, so that the
            // session's number is its own.
            processes::end_session(watcher.id());
            // It may lead none yet.
            let _ = watcher.kill();
        }
        watcher.wait()?;
        Ok(match ran {
            Ok(Ok(ran)) => Outcome::Ran(ran),
            Ok(Err(why)) => Outcome::Failed(why),
            Err(_) if stopped || (self.stop)() => Outcome::Stopped,
            Err(_) => Outcome::Failed("the process that watches over it failed".to_owned()),
        })
    }

    fn start(&self, command: &[OsString], folder: &Folder) -> io::Result<Child> {
        Command::new(self.program)
            .arg("limited")
            .arg(format!("--timeout={}", self.limits.seconds))
            .arg(format!("--memory={}", self.limits.memory_mib))
            .arg("--folder")
            .arg(folder.path())
            .arg("--")
            .args(command)
            .env("LC_ALL", "C")
            .env_remove("LANGUAGE")
            // The lifeline: the watcher ends the reader when this process ends, whatever ends it.
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
    }

    /// The line that the watcher writes, and whether it was asked to stop before.
    fn report(&self, watcher: &mut Child) -> io::Result<(Vec<u8>, bool)> {
        let mut lifeline = watcher.stdin.take();
        let mut deadline = Instant::now()
            + Duration::from_secs(self.limits.seconds.saturating_mul(PATIENCE))
            + GRACE;
        let (mut report, mut part) = (Vec::new(), vec![0; 1 << 16]);
        let Some(mut stream) = watcher.stdout.take() else { return Ok((report, false)) };
        while !report.ends_with(b"\n") && Instant::now() < deadline {
            if lifeline.is_some() && (self.stop)() {
                lifeline = None;
                deadline = deadline.min(Instant::now() + GRACE);
            }
            let mut end = [PollFd::new(stream.as_fd(), PollFlags::POLLIN)];
            let pause = PollTimeout::try_from(PAUSE).unwrap_or(PollTimeout::ZERO);
            // Interrupted, it is as if nothing had come.
            if !matches!(poll(&mut end, pause), Ok(1..)) {
                continue;
            }
            match stream.read(&mut part)? {
                0 => break,
                length => report.extend_from_slice(part.get(..length).unwrap_or_default()),
            }
        }
        Ok((report, lifeline.is_none()))
    }
}
