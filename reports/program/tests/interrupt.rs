//! Interrupting a scan with Ctrl-C.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod packing;

use std::process::{Command, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use packing::Folder;
use serde_json::Value;

/// A folder with a program, many packages that take a second each in a debug build, and another program.
fn slow(name: &str) -> Option<Folder> {
    let folder = Folder::new(name);
    folder.copy("golden/2.47.50/x86_64/static.exe", "a");
    let command = "cp a z && mkdir b && for n in $(seq 8); do cp a b/$n && truncate -s 16M b/$n; done; \
                   tar -cf - -C b . | gzip -1 > b01.gz && rm -r b; for n in $(seq 10 60); do ln b01.gz b$n.gz; done";
    folder.make("gzip", command).then_some(folder)
}

/// Starts a scan and interrupts it `times` times. Returns its exit status and output.
fn interrupted(folder: &Folder, times: u32) -> (Option<i32>, String, String) {
    let child = Command::new(env!("CARGO_BIN_EXE_sframe-check"))
        .current_dir(folder.path(""))
        .args(["--threads", "1", "--format", "json", "."])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let pid = Pid::from_raw(child.id().try_into().expect("a process"));
    // Give the scan time to begin. Nothing is printed that the test could wait for.
    std::thread::sleep(Duration::from_millis(700));
    for _ in 0..times {
        kill(pid, Signal::SIGINT).expect("it runs");
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().expect("it ends");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn an_interrupted_scan_reports_the_files_it_checked() {
    let Some(folder) = slow("interrupt") else { return };
    let (status, text, stderr) = interrupted(&folder, 1);
    assert_eq!(status, Some(130), "{stderr}");
    assert!(stderr.contains("interrupted"), "{stderr}");
    let document: Value = serde_json::from_str(&text).expect("complete JSON");
    let files = document["files"].as_array().expect("files");
    assert_eq!(document["summary"]["inputs"], files.len());
    assert_eq!(files[0]["path"], "./a");
    // The last file has not been checked.
    assert!(files.iter().all(|file| file["path"] != "./z"), "{text}");
}

#[test]
fn a_second_interrupt_exits_at_once() {
    let Some(folder) = slow("interrupt-twice") else { return };
    let (status, text, _) = interrupted(&folder, 2);
    assert_eq!(status, Some(130));
    assert!(!text.contains("summary"), "{text}");
}
