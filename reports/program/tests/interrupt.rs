//! Interrupting a scan with Ctrl-C.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod packing;

use std::fs;
use std::io::{PipeReader, PipeWriter, Read, pipe};
use std::os::fd::AsFd;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use packing::Folder;
use serde_json::Value;

/// More files than a scan reports before a pipe is full, and checks ahead of its report.
const FILES: usize = 3000;

/// A scan that has filled the pipe it writes to: it cannot end before the test reads.
struct Stuck {
    scan: Child,
    output: PipeReader,
}

impl Stuck {
    fn new(name: &str) -> Stuck {
        let folder = Folder::new(name);
        folder.copy("golden/2.47.50/x86_64/static.exe", "0000");
        for number in 1..FILES {
            fs::hard_link(folder.path("0000"), folder.path(&format!("{number:04}")))
                .expect("a hard link");
        }
        let (output, input) = pipe().expect("a pipe");
        let scan = Command::new(env!("CARGO_BIN_EXE_sframe-check"))
            .current_dir(folder.path(""))
            .args(["--threads", "1", "--format", "json", "."])
            .stdout(input.try_clone().expect("a file descriptor"))
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program runs");
        while has_room(&input) {
            sleep(Duration::from_millis(10));
        }
        Stuck { scan, output }
    }

    /// Sends SIGINT, and waits until the program has received it: a second one would be lost before that.
    fn interrupt(&self) {
        kill(Pid::from_raw(self.scan.id().cast_signed()), Signal::SIGINT).expect("it runs");
        while self.has_signals_pending() {
            sleep(Duration::from_millis(1));
        }
    }

    /// Whether signals wait for the process (proc(5), `ShdPnd`).
    fn has_signals_pending(&self) -> bool {
        let status =
            fs::read_to_string(format!("/proc/{}/status", self.scan.id())).expect("it runs");
        let pending = status.lines().find_map(|line| line.strip_prefix("ShdPnd:")).expect("a mask");
        pending.trim().bytes().any(|digit| digit != b'0')
    }

    /// Reads until the end. Returns the exit status and the output.
    fn end(mut self) -> (Option<i32>, String, String) {
        let mut text = String::new();
        self.output.read_to_string(&mut text).expect("UTF-8");
        let outcome = self.scan.wait_with_output().expect("it ends");
        (outcome.status.code(), text, String::from_utf8(outcome.stderr).expect("UTF-8"))
    }
}

/// Whether a pipe takes more bytes.
fn has_room(input: &PipeWriter) -> bool {
    let mut pipes = [PollFd::new(input.as_fd(), PollFlags::POLLOUT)];
    poll(&mut pipes, PollTimeout::ZERO).expect("a pipe") > 0
}

#[test]
fn an_interrupted_scan_reports_the_files_it_checked() {
    let scan = Stuck::new("interrupt");
    scan.interrupt();
    let (status, text, stderr) = scan.end();
    assert_eq!(status, Some(130), "{stderr}");
    assert!(stderr.contains("interrupted"), "{stderr}");
    let document: Value = serde_json::from_str(&text).expect("complete JSON");
    let files = document["files"].as_array().expect("files");
    assert_eq!(document["summary"]["inputs"], files.len());
    assert_eq!(files[0]["path"], "./0000");
    assert!(files.len() < FILES, "every file was checked");
}

#[test]
fn a_second_interrupt_exits_at_once() {
    let scan = Stuck::new("interrupt-twice");
    scan.interrupt();
    scan.interrupt();
    let (status, text, _) = scan.end();
    assert_eq!(status, Some(130));
    assert!(!text.contains("summary"), "{text}");
}
