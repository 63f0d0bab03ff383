//! Running the driver's commands: their messages, bounded in size and time.

use std::fmt;
use std::io::Read;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use sframe_record::text::printable;

use super::DriverError;

/// The longest output of a driver or linker that is read, in bytes.
const LONGEST: u64 = 16 << 20;
/// How long a command may take: compilers take minutes for the largest sources.
pub(super) const LIMIT: Duration = Duration::from_secs(1800);
/// How long to wait for the rest of the output after a command has ended, and its processes with it.
const REST: Duration = Duration::from_secs(60);
/// The pause between two looks at a command that runs.
const PAUSE: Duration = Duration::from_millis(2);

/// What a command has printed, and whether it succeeded.
pub(super) struct Printed {
    pub(super) text: String,
    pub(super) success: bool,
}

/// Runs programs one after the other, each in a process group of its own, which ends with it.
pub(super) struct Programs<'s> {
    /// The longest time for each.
    pub(super) limit: Duration,
    /// How the caller ends them, and the processes that they leave.
    pub(super) ends: Ends<'s>,
}

/// How the commands of a driver, and the processes that they start, are ended.
#[derive(Clone, Copy)]
pub struct Ends<'s> {
    /// When it becomes true, the command that runs is ended.
    pub interrupted: &'s AtomicBool,
    /// Called when a command and its process group have ended. It ends processes that have left the group, for example by
    /// setsid(2), which only a caller without other children can recognise.
    pub rest: &'s dyn Fn(),
}

impl fmt::Debug for Ends<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ends").field("interrupted", self.interrupted).finish_non_exhaustive()
    }
}

impl<'s> Ends<'s> {
    /// Ends process groups alone.
    #[must_use]
    pub fn groups(interrupted: &'s AtomicBool) -> Ends<'s> {
        Ends { interrupted, rest: &|| {} }
    }
}

impl Programs<'_> {
    /// Runs a program, and returns the start of its standard error, or of its standard output if that is empty.
    pub(super) fn run(&self, command: &mut Command) -> Result<Printed, DriverError> {
        let (success, output, errors) = self.streams(command)?;
        let text = if errors.trim().is_empty() { output } else { errors };
        Ok(Printed { text, success })
    }

    /// Runs a program, and returns the start of its standard output.
    pub(super) fn run_for_output(&self, command: &mut Command) -> Result<String, DriverError> {
        self.streams(command).map(|(_, output, _)| output)
    }

    /// Runs a program, and returns whether it succeeded, and the start of each stream.
    fn streams(&self, command: &mut Command) -> Result<(bool, String, String), DriverError> {
        let name = printable(command.get_program().as_encoded_bytes());
        let failed = |error| DriverError::NotRun(name.clone(), error);
        command
            .env("LC_ALL", "C")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.process_group(0).spawn().map_err(failed)?;
        let output = child.stdout.take().map(read_start);
        let errors = child.stderr.take().map(read_start);
        let deadline = Instant::now().checked_add(self.limit);
        let is_over = || deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let status = loop {
            match child.try_wait().map_err(failed)? {
                Some(status) => break Some(status),
                None if is_over() || self.is_interrupted() => break None,
                None => thread::sleep(PAUSE),
            }
        };
        if let Ok(group) = i32::try_from(child.id()) {
            // It fails if no process is left.
            let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
        }
        let ended = status.map_or_else(|| child.wait(), Ok);
        // Only now: it may wait for any child of this process.
        (self.ends.rest)();
        ended.map_err(failed)?;
        let Some(status) = status else {
            return Err(match self.is_interrupted() {
                true => DriverError::Interrupted,
                false => DriverError::TooSlow(name, self.limit),
            });
        };
        let text = |stream: Option<Receiver<String>>| {
            stream.and_then(|stream| stream.recv_timeout(REST).ok()).unwrap_or_default()
        };
        Ok((status.success(), text(output), text(errors)))
    }

    fn is_interrupted(&self) -> bool {
        self.ends.interrupted.load(Ordering::Relaxed)
    }
}

/// Reads a stream to its end, and keeps the start. A process that has left the group may keep the stream open.
fn read_start(mut stream: impl Read + Send + 'static) -> Receiver<String> {
    let (send, receive) = channel();
    thread::spawn(move || {
        let mut start = Vec::new();
        let _ = stream.by_ref().take(LONGEST).read_to_end(&mut start);
        let _ = std::io::copy(&mut stream, &mut std::io::sink());
        // Nobody waits for it any more if the command has taken too long.
        let _ = send.send(String::from_utf8_lossy(&start).into_owned());
    });
    receive
}

#[cfg(test)]
mod tests {
    use super::*;

    static INTERRUPTED: AtomicBool = AtomicBool::new(false);

    fn programs(limit: Duration) -> Programs<'static> {
        Programs { limit, ends: Ends::groups(&INTERRUPTED) }
    }

    /// A process that the command leaves running has its output open: the output has an end because the process has ended.
    #[test]
    fn what_a_command_leaves_running_ends_with_it() {
        let left = "sleep 1000 & echo left";
        let output = programs(LIMIT).run_for_output(Command::new("sh").args(["-c", left]));
        assert_eq!(output.expect("it ends"), "left\n");
    }

    #[test]
    fn a_command_that_does_not_end_is_ended() {
        let limit = Duration::from_millis(200);
        let ended = programs(limit).run(Command::new("sh").args(["-c", "sleep 1000"]));
        assert!(matches!(ended, Err(DriverError::TooSlow(name, _)) if name == "sh"));
    }

    #[test]
    fn an_interrupted_command_is_ended() {
        let interrupted = AtomicBool::new(true);
        let programs = Programs { limit: LIMIT, ends: Ends::groups(&interrupted) };
        let ended = programs.run(Command::new("sleep").arg("1000"));
        assert!(matches!(ended, Err(DriverError::Interrupted)));
    }
}
