//! A command under limits: the work of a process that is started for each case, the watcher.
//!
//! It sets the limits for itself, so that the command inherits them, reads what the command prints, looks at how much
//! it writes, ends it with all that it has started, and tells how it ended: the system counts what a command costs by
//! waiting process, and a process that waits for many can tell none of them apart.

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::sys::prctl;
use nix::sys::resource::{Resource, UsageWho, getrusage, setrlimit};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::{Pid, setsid};
use serde::{Deserialize, Serialize};

use super::folder::Folder;
use super::limits::{FILE_MIB, FILES_MIB, Limits, MIB, OUTPUT_MIB, PATIENCE, WRITTEN_MIB};
use super::processes;
use super::streams::Streams;
use super::verdict::End;

/// How long a command's streams may stay open after its end: a process that it has started may be about to end, too.
const LINGER: Duration = Duration::from_millis(500);
/// The longest time between two looks at a command.
const PAUSE: Duration = Duration::from_millis(20);
/// The shortest time between two looks at what a command has written.
const BETWEEN: Duration = Duration::from_millis(50);

/// What came of a command.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Ran {
    /// How it ended.
    pub(super) end: End,
    /// The start of its standard output.
    pub(super) output: Vec<u8>,
    /// The start of its standard error.
    pub(super) errors: Vec<u8>,
    /// Bytes on both.
    pub(super) printed: u64,
    /// Processor time in milliseconds, and resident memory in KiB; not known of one that had to be
    /// ended.
    pub(super) cost: Option<(u64, u64)>,
}

/// Runs `command` under `limits` in `folder`, writes to `report` in a line how the command ended, or why it could not be
/// started, and removes the folder. Once nobody holds the other end of standard input, it ends the command and writes nothing.
///
/// # Errors
/// The limits cannot be set, or the report cannot be written.
pub fn run_limited(
    command: &[OsString],
    limits: Limits,
    folder: &Path,
    report: &mut dyn Write,
) -> io::Result<()> {
    let folder = Folder::at(folder);
    // What a terminal sends does not get here. It fails where this process is the first of a session.
    let _ = setsid();
    prctl::set_child_subreaper(true)?;
    set(limits)?;
    let ran = match start(command, &folder) {
        Ok(reader) => {
            let ran = Watch::new(reader, limits, &folder).run();
            processes::end_children();
            match ran? {
                Some(ran) => Ok(ran),
                None => return Ok(()),
            }
        }
        Err(error) => Err(error.to_string()),
    };
    serde_json::to_writer(&mut *report, &ran)?;
    writeln!(report)?;
    // Nobody waits for what may take long: to remove many files.
    report.flush()
}

fn set(limits: Limits) -> io::Result<()> {
    // Past the soft limit a process gets SIGXCPU, past the hard one SIGKILL.
    setrlimit(Resource::RLIMIT_CPU, limits.seconds, limits.seconds.saturating_add(1))?;
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    setrlimit(Resource::RLIMIT_FSIZE, FILE_MIB * MIB, FILE_MIB * MIB)?;
    if let Some(memory) = limits.memory_mib.checked_mul(MIB).filter(|bytes| *bytes > 0) {
        setrlimit(Resource::RLIMIT_AS, memory, memory)?;
    }
    Ok(())
}

fn start(command: &[OsString], folder: &Folder) -> io::Result<Child> {
    let (program, arguments) = command.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let work = folder.work();
    Command::new(program)
        .args(arguments)
        .current_dir(&work)
        .envs(["TMPDIR", "TMP", "TEMP"].map(|name| (name, &work)))
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
}

/// A command at work.
struct Watch<'f> {
    reader: Child,
    streams: Streams,
    limits: Limits,
    folder: &'f Folder,
    started: Instant,
    /// When the next look at what it has written is due.
    due: Instant,
}

/// Why a command is not waited for any longer.
enum Stop {
    /// It has ended.
    Ended(ExitStatus),
    /// It has to be ended, for it is past a limit.
    Past(End),
    /// Nobody waits for the report.
    Abandoned,
}

impl<'f> Watch<'f> {
    fn new(mut reader: Child, limits: Limits, folder: &'f Folder) -> Watch<'f> {
        let streams = Streams::new(reader.stdout.take(), reader.stderr.take());
        let started = Instant::now();
        Watch { reader, streams, limits, folder, started, due: started + BETWEEN }
    }

    /// Waits for the command's end or a limit, and ends all that is left of it; `None` where nobody wants to know.
    fn run(mut self) -> io::Result<Option<Ran>> {
        let stop = self.wait()?;
        let (end, cost) = match stop {
            Stop::Ended(status) => {
                let cost = cost()?;
                self.linger()?;
                let end =
                    status.signal().map_or(End::Status(status.code().unwrap_or(0)), End::Signal);
                (Some(end), Some(cost))
            }
            Stop::Past(end) => (Some(end), None),
            Stop::Abandoned => (None, None),
        };
        if cost.is_none() {
            // As long as nobody has waited for it, the group's number is its own. All of the group end at once, before
            // one of them can start another.
            if let Ok(group) = i32::try_from(self.reader.id()) {
                let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
            }
            self.reader.wait()?;
        }
        processes::end_children();
        self.streams.read_rest()?;
        Ok(end.map(|end| match self.past_bytes() {
            Some(past) if cost.is_some() => self.ran(past, None),
            _ => self.ran(end, cost),
        }))
    }

    fn ran(&self, end: End, cost: Option<(u64, u64)>) -> Ran {
        let [output, errors] = self.streams.kept();
        Ran { end, output, errors, printed: self.streams.total(), cost }
    }

    fn wait(&mut self) -> io::Result<Stop> {
        let time = Duration::from_secs(self.limits.seconds.saturating_mul(PATIENCE));
        let mut pause = Duration::from_millis(1);
        loop {
            if !self.streams.read(pause)? {
                return Ok(Stop::Abandoned);
            }
            if let Some(status) = self.reader.try_wait()? {
                return Ok(Stop::Ended(status));
            }
            if self.started.elapsed() >= time {
                return Ok(Stop::Past(End::TimedOut));
            }
            if let Some(end) = self.past_bytes_if_due() {
                return Ok(Stop::Past(end));
            }
            pause = (pause * 2).min(PAUSE);
        }
    }

    /// Reads what processes print that the command has left behind.
    fn linger(&mut self) -> io::Result<()> {
        let start = Instant::now();
        while self.streams.are_open() && start.elapsed() < LINGER && self.streams.read(PAUSE)? {}
        Ok(())
    }

    /// A look costs the more the more there is; it must not cost the watcher its own processor time.
    fn past_bytes_if_due(&mut self) -> Option<End> {
        let start = Instant::now();
        if start < self.due {
            return None;
        }
        let past = self.past_bytes();
        self.due = Instant::now() + (start.elapsed() * 10).max(BETWEEN);
        past
    }

    /// The limit of bytes that the command is past, if any.
    fn past_bytes(&self) -> Option<End> {
        let printed = self.streams.total();
        if printed > OUTPUT_MIB * MIB {
            return Some(End::Printed);
        }
        let files = FILES_MIB * MIB;
        let past = self.folder.size(files) > files
            || processes::written().saturating_sub(printed) > WRITTEN_MIB * MIB;
        past.then_some(End::Wrote)
    }
}

/// What the children cost that have been waited for: processor time in milliseconds, and KiB of resident memory.
fn cost() -> io::Result<(u64, u64)> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let milliseconds = [usage.user_time(), usage.system_time()]
        .map(|time| time.tv_sec().saturating_mul(1000).saturating_add(time.tv_usec() / 1000));
    let processor = milliseconds.iter().sum::<i64>().try_into().unwrap_or(0);
    Ok((processor, usage.max_rss().try_into().unwrap_or(0)))
}
