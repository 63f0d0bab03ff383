//! Children: started in a process group of their own, watched, read from and ended.

use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use super::Limits;
use super::limited::{Ended, kill_group};
use super::verdict::End;

/// How much of what a child prints is kept of each stream; the rest is read and dropped.
const KEPT: usize = 64 << 10;
/// How much longer by the clock than by processor time: other work may have the processor.
const PATIENCE: u64 = 3;
/// How long a child's streams may stay open after its end.
const LINGER: Duration = Duration::from_millis(500);

/// What came of a child.
#[derive(Clone, Debug)]
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

/// Runs `command` by way of `program limited`, which writes its report to `report`.
///
/// # Errors
/// Why the command, or what watches over it, could not be started.
pub(super) fn run(
    program: &Path,
    command: &[OsString],
    limits: Limits,
    report: &Path,
) -> Result<Ran, String> {
    let mut child = start(program, command, limits, report).map_err(|error| error.to_string())?;
    let lifeline = child.stdin.take();
    let output = drain(child.stdout.take());
    let errors = drain(child.stderr.take());
    let in_time = wait(&mut child, Duration::from_secs(limits.seconds.saturating_mul(PATIENCE)));
    if !in_time {
        kill_group(child.id());
        let _ = child.wait();
    }
    drop(lifeline);
    let (output, printed) = output.recv_timeout(LINGER).unwrap_or_default();
    let (errors, printed_errors) = errors.recv_timeout(LINGER).unwrap_or_default();
    let mut ran =
        Ran { end: End::TimedOut, output, errors, printed: printed + printed_errors, cost: None };
    if in_time {
        let ended = read_report(report).ok_or("the process that watches over it failed")?;
        if let Some(why) = ended.not_started {
            return Err(why);
        }
        ran.end = match (ended.status, ended.signal) {
            (Some(status), _) => End::Status(status),
            (None, signal) => End::Signal(signal.unwrap_or(0)),
        };
        ran.cost = Some((ended.processor_ms, ended.peak_kib));
    }
    Ok(ran)
}

fn start(program: &Path, command: &[OsString], limits: Limits, report: &Path) -> io::Result<Child> {
    Command::new(program)
        .arg("limited")
        .arg(format!("--timeout={}", limits.seconds))
        .arg(format!("--memory={}", limits.memory_mib))
        .arg("--report")
        .arg(report)
        .arg("--")
        .args(command)
        .env("LC_ALL", "C")
        .env_remove("LANGUAGE")
        .process_group(0)
        // What `limited` holds on to: it ends when this process does, whatever ends it.
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
}

/// Reads a stream to its end: whoever is not read from waits, and would be taken for one that hangs.
fn drain(stream: Option<impl Read + Send + 'static>) -> Receiver<(Vec<u8>, u64)> {
    let (sender, receiver) = channel();
    thread::spawn(move || {
        let (mut kept, mut total) = (Vec::new(), 0);
        if let Some(mut stream) = stream {
            let _ = stream.by_ref().take(KEPT as u64).read_to_end(&mut kept);
            total = kept.len() as u64;
            total += io::copy(&mut stream, &mut io::sink()).unwrap_or(0);
        }
        // Nobody waits any more if the stream outlived the child for long.
        let _ = sender.send((kept, total));
    });
    receiver
}

/// Whether the child ended within `time`.
fn wait(child: &mut Child, time: Duration) -> bool {
    let start = Instant::now();
    let mut pause = Duration::from_millis(1);
    loop {
        match child.try_wait() {
            Ok(Some(_)) | Err(_) => return true,
            Ok(None) if start.elapsed() >= time => return false,
            Ok(None) => thread::sleep(pause),
        }
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

fn read_report(path: &Path) -> Option<Ended> {
    let report = serde_json::from_slice(&fs::read(path).ok()?).ok();
    let _ = fs::remove_file(path);
    report
}
