//! The server side: a process that is started for each program and runs it under limits.

use std::env;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{self, Child, ExitCode, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use nix::libc::RLIM_INFINITY;
use nix::sys::prctl;
use nix::sys::resource::{Resource, UsageWho, getrusage, setrlimit};
use nix::sys::signal::{Signal, killpg};
use nix::sys::time::{TimeVal, TimeValLike};
use nix::unistd::{Pid, setsid};

use super::command::Command;
use super::end::{Cost, End, Ran};
use super::folder::Folder;
use super::limits::{FILE_MIB, FILES_MIB, Limits, MIB, OUTPUT_MIB, PATIENCE, WRITTEN_MIB};
use super::messages::{Request, write_reply};
use super::processes;
use super::streams::Streams;

/// The first argument of a watcher process; the second and last one is the folder.
pub const WATCHER: &str = "limited";

/// How long a program's streams may stay open after its end: processes that it started may be about to end, too.
const LINGER: Duration = Duration::from_millis(500);
/// The minimum time between two checks of a program.
const SHORTEST_PAUSE: Duration = Duration::from_millis(1);
/// The maximum time between two checks of a program.
const PAUSE: Duration = Duration::from_millis(20);
/// The minimum time between two measurements of how much a program has written.
const BETWEEN: Duration = Duration::from_millis(50);

/// Acts as watcher if this process was started as one, and returns its exit status; `None` for any other process.
#[must_use]
pub fn watch_if_asked() -> Option<ExitCode> {
    let mut arguments = env::args_os().skip(1);
    let (name, folder) = (arguments.next()?, arguments.next()?);
    if name != WATCHER || arguments.next().is_some() {
        return None;
    }
    let watched = watch(Path::new(&folder), &mut io::stdout().lock());
    Some(if watched.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Acts as watcher, with `folder` for the program: reads from standard input what to run, writes to `reply` how it
/// ended or why it could not be started, and removes the folder when standard input closes. If that closes before the
/// program has ended, kills the program and writes nothing.
///
/// # Errors
/// Returns an error if standard input is not a request, the limits cannot be set, or the reply cannot be written.
pub fn watch(folder: &Path, reply: &mut dyn Write) -> io::Result<()> {
    let folder = Folder::at(folder);
    // Signals of a terminal do not arrive here. Fails if this process leads a session already, which is fine.
    let _ = setsid();
    prctl::set_child_subreaper(true)?;
    let Request { command, limits } = Request::read(io::stdin().lock())?;
    set(limits)?;
    let ran = match start(&command, &folder) {
        Ok((child, streams)) => {
            let ran = Watch::new(child, streams, limits, &folder).run();
            processes::end_children();
            match ran? {
                Some(ran) => Ok(ran),
                None => return Ok(()),
            }
        }
        Err(error) => Err(error.to_string()),
    };
    write_reply(ran, reply)?;
    // Wait until the caller has taken the files that the program has left.
    io::copy(&mut io::stdin(), &mut io::sink())?;
    Ok(())
}

fn set(limits: Limits) -> io::Result<()> {
    // Exceeding the soft limit raises SIGXCPU, exceeding the hard limit SIGKILL.
    limit(Resource::RLIMIT_CPU, limits.seconds, limits.seconds.saturating_add(1))?;
    limit(Resource::RLIMIT_CORE, 0, 0)?;
    limit(Resource::RLIMIT_FSIZE, FILE_MIB * MIB, FILE_MIB * MIB)?;
    if let Some(memory) = limits.memory_mib.checked_mul(MIB).filter(|bytes| *bytes > 0) {
        limit(Resource::RLIMIT_AS, memory, memory)?;
    }
    Ok(())
}

/// Sets the soft and the hard limit of a resource; more than the host can express is no limit.
#[allow(clippy::useless_conversion, reason = "the kernel's type has 32 bits on some hosts")]
fn limit(resource: Resource, soft: u64, hard: u64) -> io::Result<()> {
    let [soft, hard] = [soft, hard].map(|it| it.try_into().unwrap_or(RLIM_INFINITY));
    Ok(setrlimit(resource, soft, hard)?)
}

/// Starts the program. This process keeps none of the write ends of its streams.
fn start(command: &Command, folder: &Folder) -> io::Result<(Child, Streams)> {
    let (program, arguments) = command.words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let input = match &command.input {
        Some(file) => File::open(file)?.into(),
        None => Stdio::null(),
    };
    let (output, output_end) = io::pipe()?;
    let (errors, errors_end) = match command.together {
        true => (None, output_end.try_clone()?),
        false => {
            let (errors, errors_end) = io::pipe()?;
            (Some(errors), errors_end)
        }
    };
    let work = folder.work();
    let child = process::Command::new(program)
        .args(arguments)
        .current_dir(&work)
        .envs(["TMPDIR", "TMP", "TEMP"].map(|name| (name, &work)))
        .process_group(0)
        .stdin(input)
        .stdout(output_end)
        .stderr(errors_end)
        .spawn()?;
    let sources = [Some(output), errors].map(|source| source.map(OwnedFd::from));
    Ok((child, Streams::new(sources, command.keep)))
}

/// A running program.
struct Watch<'f> {
    child: Child,
    streams: Streams,
    limits: Limits,
    folder: &'f Folder,
    started: Instant,
    /// When to measure next how much it has written.
    due: Instant,
}

/// The reason why the watcher no longer waits for a program.
enum Stop {
    /// The program has ended.
    Ended(ExitStatus),
    /// The program has exceeded a limit and must be killed.
    Past(End),
    /// Nobody waits for the reply any longer.
    Abandoned,
}

impl<'f> Watch<'f> {
    fn new(child: Child, streams: Streams, limits: Limits, folder: &'f Folder) -> Watch<'f> {
        let started = Instant::now();
        Watch { child, streams, limits, folder, started, due: started + BETWEEN }
    }

    /// Waits until the program ends or exceeds a limit, and kills everything left of it. `None` if nobody waits for the
    /// reply.
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
            // Until someone waits for the program, its group id cannot be reused. Killing the whole group at once
            // leaves none of its processes time to start another.
            if let Ok(group) = i32::try_from(self.child.id()) {
                let _ = killpg(Pid::from_raw(group), Signal::SIGKILL);
            }
            self.child.wait()?;
        }
        processes::end_children();
        self.streams.read_rest()?;
        Ok(end.map(|end| match self.past_bytes() {
            Some(past) if cost.is_some() => self.ran(past, None),
            _ => self.ran(end, cost),
        }))
    }

    fn ran(self, end: End, cost: Option<Cost>) -> Ran {
        let printed = self.streams.total();
        let [output, errors] = self.streams.into_kept();
        Ran { end, output, errors, printed, cost }
    }

    fn wait(&mut self) -> io::Result<Stop> {
        let time = Duration::from_secs(self.limits.seconds.saturating_mul(PATIENCE));
        let mut pause = SHORTEST_PAUSE;
        loop {
            let open = self.streams.are_open();
            if !self.streams.read(pause)? {
                return Ok(Stop::Abandoned);
            }
            if open && !self.streams.are_open() {
                // The program is probably about to end, which no stream shows.
                pause = SHORTEST_PAUSE;
            }
            if let Some(status) = self.child.try_wait()? {
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

    /// Reads the output of processes that the program has left running.
    fn linger(&mut self) -> io::Result<()> {
        let start = Instant::now();
        while self.streams.are_open() && start.elapsed() < LINGER && self.streams.read(PAUSE)? {}
        Ok(())
    }

    /// Measures at intervals that depend on how long measuring takes, so that it does not use up the watcher's own
    /// processor time.
    fn past_bytes_if_due(&mut self) -> Option<End> {
        let start = Instant::now();
        if start < self.due {
            return None;
        }
        let past = self.past_bytes();
        self.due = Instant::now() + (start.elapsed() * 10).max(BETWEEN);
        past
    }

    /// The limit of bytes that the program has exceeded, if any.
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

/// The resources used by children that this process has waited for.
fn cost() -> io::Result<Cost> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let milliseconds = |time: TimeVal| u64::try_from(time.num_milliseconds()).unwrap_or(0);
    let [user, system] = [usage.user_time(), usage.system_time()].map(milliseconds);
    let peak_kib = usage.max_rss().try_into().unwrap_or(0);
    Ok(Cost { processor_ms: user.saturating_add(system), peak_kib })
}
