//! Stopping a process leaves no trace in it.

use std::fs;
use std::process::{Child, Command};

use sframe_corpus::time::wait_until;
use sframe_corpus::{folder, tools};
use sframe_process::{Files, Process};

/// A process that is ended when this value is dropped.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits until a process handles SIGUSR1 (proc_pid_status(5), `SigCgt`).
fn wait_until_it_runs(pid: u32) {
    const SIGUSR1: u32 = 10;
    wait_until("the process does not run", || {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("a process");
        let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).expect("a mask");
        let mask = u64::from_str_radix(mask.trim(), 16).expect("a number");
        mask >> (SIGUSR1 - 1) & 1 != 0
    });
}

/// Sends itself signals all the time, and ends if one is lost.
const SOURCE: &str = "#include <signal.h>
static volatile long handled;
static void handler(int number) { (void)number; handled++; }
int main(void) {
\tsignal(SIGUSR1, handler);
\tfor (long sent = 1;; sent++) { raise(SIGUSR1); if (handled != sent) return 1; }
}
";

#[test]
fn a_process_with_a_debugger_is_refused() {
    let running = Running(Command::new("sleep").arg("1000").spawn().expect("it starts"));
    let files = Files::default();
    let first = Process::stop(running.0.id(), &files, &[]).expect("it stops");
    let refused = |pid| Process::stop(pid, &files, &[]).err().map(|error| error.to_string());
    let reason = format!("process {} traces it already", std::process::id());
    assert_eq!(refused(running.0.id()), Some(reason));
    drop(first);
    assert_eq!(refused(running.0.id()), None);
}

/// A thread that is about to receive a signal when it is stopped receives it afterwards. This happens in two of a hundred
/// attempts.
#[test]
fn no_signal_is_lost() {
    if !tools::is_installed("gcc") {
        return;
    }
    let folder = folder!("live-signals");
    fs::write(folder.join("signals.c"), SOURCE).expect("written");
    assert!(tools::run(&folder, "gcc", "gcc -O1 -w signals.c -o signals"));
    let mut running = Running(Command::new(folder.join("signals")).spawn().expect("it starts"));
    wait_until_it_runs(running.0.id());
    for attempt in 0..2000 {
        let files = Files::default();
        let process = Process::stop(running.0.id(), &files, &[]).expect("it stops");
        assert_eq!((process.threads.len(), process.problems.len()), (1, 0));
        drop(process);
        assert_eq!(running.0.try_wait().expect("a child"), None, "attempt {attempt}");
    }
}
