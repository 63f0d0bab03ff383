//! Running processes: their stacks, and that they continue afterwards.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use sframe_corpus::time::wait_until;
use sframe_corpus::{folder, program, tools};

use super::cores::{build, has_tools};
use super::{frames, gdb, rows, walk};

/// A process that is ended when this value is dropped.
pub(crate) struct Running(Child);

impl Running {
    /// A program of `tests/walk/programs` that waits in a recursion.
    pub(crate) fn waiting(program: &Path) -> Running {
        let child = Command::new(program).arg("wait").stdin(Stdio::null()).spawn();
        let running = Running(child.expect("it starts"));
        wait_until_asleep(running.id(), 1);
        running
    }

    /// Its process.
    pub(crate) fn id(&self) -> u32 {
        self.0.id()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The state of a process, as the kernel prints it.
fn state(pid: u32) -> String {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("a process");
    let line = status.lines().find(|line| line.starts_with("State:"));
    let tracer = status.lines().find(|line| line.starts_with("TracerPid:"));
    format!("{} {}", line.expect("a state"), tracer.expect("a tracer"))
}

/// Waits until all threads of a process, of which there are `count`, sleep in the system call for which they were made:
/// `pause` or `clock_nanosleep` (arch/x86/entry/syscalls/syscall_64.tbl).
fn wait_until_asleep(pid: u32, count: usize) {
    let is_asleep = |thread: fs::DirEntry| {
        let call = fs::read_to_string(thread.path().join("syscall")).unwrap_or_default();
        call.starts_with("34 ") || call.starts_with("230 ")
    };
    wait_until("the process does not sleep", || {
        let threads = fs::read_dir(format!("/proc/{pid}/task")).expect("a process");
        threads.flatten().map(is_asleep).filter(|asleep| *asleep).count() == count
    });
}

#[test]
fn a_process_is_walked_and_continues() {
    let folder = folder!("walk-live");
    if !has_tools() {
        return;
    }
    let Some(path) = build(&folder, "2.47.50", &["-O2"]) else { return };
    let running = Running::waiting(&path);
    let pid = running.id();
    for _ in 0..3 {
        let (status, walks) = walk(&folder, &["--pid", &pid.to_string()]);
        assert_eq!((status, &walks["undecided"]), (0, &serde_json::json!([])));
        let threads = walks["threads"].as_array().expect("threads");
        assert_eq!(threads.len(), 1);
        assert_eq!(threads[0]["id"], pid);
        assert!(rows(&threads[0], "sframe") >= 7);
        let output = Command::new("gdb")
            .args(["-nx", "-batch", "-iex", "set debuginfod enabled off"])
            .args(["-ex", "set backtrace past-main on", "-ex", "set backtrace past-entry on"])
            .args(["-p", &pid.to_string(), "-x", gdb::SCRIPT])
            .output()
            .expect("gdb runs");
        let expected = gdb::parsed(&output);
        assert_eq!(frames(&threads[0], "cfi"), expected[0].1);
        assert_eq!(frames(&threads[0], "sframe"), expected[0].1);
        let state = state(pid);
        assert!(state.contains("sleeping") && state.ends_with("TracerPid:\t0"), "{state}");
    }
}

#[test]
fn all_threads_of_a_process_are_walked() {
    if !tools::is_installed("gcc") {
        return;
    }
    let folder = folder!("walk-live-threads");
    let source = "#include <pthread.h>\n#include <unistd.h>\n\
        static void *waiting(void *unused) { for (;;) pause(); }\n\
        int main(void) { pthread_t thread; for (int i = 0; i < 20; i++) pthread_create(&thread, 0, waiting, 0); waiting(0); }\n";
    fs::write(folder.join("threads.c"), source).expect("written");
    assert!(tools::run(&folder, "gcc", "gcc -O1 -w -pthread threads.c -o threads"));
    let child = Command::new(folder.join("threads")).spawn().expect("it starts");
    let running = Running(child);
    let pid = running.0.id();
    wait_until_asleep(pid, 21);
    let (_, walks) = walk(&folder, &["--pid", &pid.to_string()]);
    let threads = walks["threads"].as_array().expect("threads");
    assert_eq!((threads.len(), &walks["undecided"]), (21, &serde_json::json!([])));
    let complete = threads.iter().filter(|thread| thread["complete"] == true).count();
    assert_eq!(complete, 21);
    let last = threads[20]["id"].to_string();
    let (_, walks) = walk(&folder, &["--pid", &pid.to_string(), "--thread", &last]);
    assert_eq!(walks["threads"].as_array().map(Vec::len), Some(1));
    assert!(state(pid).ends_with("TracerPid:\t0"));
}

/// A stopped process stays stopped.
#[test]
fn a_stopped_process_stays_stopped() {
    let folder = folder!("walk-stopped");
    let child = Command::new("sleep").arg("1000").spawn().expect("it starts");
    let running = Running(child);
    let pid = running.0.id();
    wait_until_asleep(pid, 1);
    assert!(tools::run(&folder, "sh", &format!("kill -STOP {pid}")));
    wait_until("the process is not stopped", || state(pid).contains("stopped"));
    let run = program::run(&folder, &["walk", "--pid", &pid.to_string()]);
    assert!(run.text.starts_with(&format!("thread {pid}\n")), "{run:?}");
    // A process that is left alone wakes up, and stops again.
    let is_as_before = || {
        let state = state(pid);
        state.contains("T (stopped)") && state.ends_with("TracerPid:\t0")
    };
    wait_until("the process is not stopped again", is_as_before);
}

#[test]
fn processes_that_cannot_be_stopped_are_refused() {
    let folder = folder!("walk-refused");
    let refused = |pid: &str, reason: &str| {
        let run = program::run(&folder, &["walk", "--pid", pid]);
        assert_eq!((run.status, run.text.as_str()), (2, ""));
        assert_eq!(run.stderr, format!("process {pid}: {reason}\n"));
    };
    refused("2147483647", "there is no such process");
    let child = Command::new("sleep").arg("1000").spawn().expect("it starts");
    let running = Running(child);
    wait_until_asleep(running.0.id(), 1);
    let pid = running.0.id().to_string();
    let run = program::run(&folder, &["walk", "--pid", &pid, "--thread", "1"]);
    assert_eq!(run.status, 2);
    let expected = format!("process {pid}: there is no thread 1; the threads are {pid}\n");
    assert_eq!(run.stderr, expected);
}
