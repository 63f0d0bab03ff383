//! The progress display, on a terminal made by `script`.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod packing;

use std::io::Read;
use std::process::{Command, Stdio};

use packing::Folder;
use sframe_corpus::tools;

/// Runs the program on a terminal until one of `wanted` is shown or the program exits. Returns everything shown.
fn shown(folder: &Folder, arguments: &str, wanted: &[&str]) -> String {
    // Below nohup, a program would outlive its terminal.
    let program = "env --default-signal=HUP \"$PROGRAM\" --threads 1";
    let command = format!("stty cols 200; exec {program} {arguments}");
    let mut child = Command::new("script")
        .args(["-qec", &command, "/dev/null"])
        .env("PROGRAM", env!("CARGO_BIN_EXE_sframe-check"))
        .env("TERM", "xterm")
        .current_dir(folder.path(""))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .expect("script runs");
    let mut terminal = child.stdout.take().expect("piped");
    let (mut text, mut bytes) = (String::new(), [0; 4096]);
    while !wanted.iter().any(|wanted| text.contains(wanted)) {
        match terminal.read(&mut bytes).expect("readable") {
            0 => break,
            length => text.push_str(&String::from_utf8_lossy(&bytes[..length])),
        }
    }
    // This closes the terminal, which ends the program.
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    text
}

/// A folder with 400 packages that take a moment each, and a program inside and outside of the scanned folder.
fn folder(name: &str) -> Option<Folder> {
    let folder = Folder::new(name);
    std::fs::create_dir(folder.path("in")).expect("writable");
    folder.copy("golden/2.47.50/x86_64/static.exe", "a");
    let command = "cp a in; cp a b; truncate -s 4M b; tar -cf - b | gzip -1 > in/b100.gz; rm b
                   for n in $(seq 101 499); do ln in/b100.gz in/b$n.gz; done";
    (tools::are_terminals_made() && folder.make("gzip", command)).then_some(folder)
}

/// The files in folders and patterns are counted while the scan runs.
#[test]
fn the_remaining_files_and_time_are_shown() {
    let Some(folder) = folder("progress") else { return };
    for arguments in ["in", "a 'in/b*'"] {
        let text = shown(&folder, arguments, &[" left in/"]);
        assert!(text.contains(" of 401, ") && text.contains("[>"), "{arguments}: {text}");
    }
}

#[test]
fn quiet_shows_no_progress() {
    let Some(folder) = folder("progress-quiet") else { return };
    assert_eq!(shown(&folder, "-q 'in/b1[01]*'", &["checked"]), "");
}
