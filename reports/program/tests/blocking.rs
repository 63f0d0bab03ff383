//! Files on which opening or reading blocks: the program does not wait, and reports what they are.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use sframe_input::Input;
use sframe_record::Status;
use sframe_scan::{CheckOptions, Checker};

/// A command that takes longer than this is blocked.
const LONG: Duration = sframe_corpus::time::LONG;

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo runs").success());
}

/// Runs the program in a folder and returns its output. Panics if the program does not exit in time.
fn run(folder: &Path, arguments: &[&str]) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_sframe-check"))
        .args(arguments)
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let started = Instant::now();
    while child.try_wait().expect("a child process").is_none() {
        if started.elapsed() > LONG {
            child.kill().expect("a child process");
            panic!("{arguments:?} blocks");
        }
        thread::sleep(Duration::from_millis(10));
    }
    let output = child.wait_with_output().expect("it has exited");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    text(output.stdout) + &text(output.stderr)
}

/// The walk found a regular file, which a pipe has replaced since.
#[test]
fn a_pipe_that_replaced_a_file_does_not_block() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("pipe");
    pipe(&path);
    let (sender, checked) = channel();
    thread::spawn(move || {
        let options = CheckOptions::default();
        Checker::new(&options).input(Input::File(path), &mut |piece| {
            let record = piece.head.expect("the beginning of a record");
            let kind = record.reason.as_ref().map_or("", |kind| kind.as_str());
            let is_pipe = record.status == Status::Special && kind == "fifo";
            sender.send(is_pipe).expect("the test waits");
        });
    });
    assert!(checked.recv_timeout(LONG).expect("it does not block"), "not reported as a pipe");
}

/// The file of a thin archive's only member is a pipe.
#[test]
fn a_pipe_as_member_of_a_thin_archive_is_reported() {
    let folder = tempfile::tempdir().expect("a folder");
    let header = format!("{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", "f/", 0, 0, 0, 644, 100);
    fs::write(folder.path().join("thin.a"), format!("!<thin>\n{header}")).expect("writable");
    pipe(&folder.path().join("f"));
    for arguments in [["dump", "thin.a"], ["-v", "thin.a"]] {
        let text = run(folder.path(), &arguments);
        assert!(text.contains("it is not a regular file: named pipe"), "{text}");
    }
}

/// Reading `/proc/kmsg` blocks until the kernel's next message (proc(5)).
#[test]
fn a_link_to_kernel_messages_does_not_block() {
    let folder = tempfile::tempdir().expect("a folder");
    symlink("/proc/kmsg", folder.path().join("messages")).expect("writable");
    for arguments in [
        ["--follow-links", "."].as_slice(),
        &["messages"],
        &["--raw", "messages"],
        &["dump", "messages"],
    ] {
        let text = run(folder.path(), arguments);
        let known = [
            "file of the kernel",
            "files of the kernel",
            "unreadable",
            "cannot be read",
            "not permitted",
            "denied",
        ];
        assert!(known.iter().any(|known| text.contains(known)), "{arguments:?}: {text}");
    }
}

/// Every command and option that takes a file reports a pipe.
#[test]
fn no_command_blocks_on_a_pipe() {
    let folder = tempfile::tempdir().expect("a folder");
    let sound = sframe_corpus::corpus().join("golden/2.47.50/x86_64/static.exe");
    fs::copy(sound, folder.path().join("sound")).expect("it can be copied");
    pipe(&folder.path().join("pipe"));
    for arguments in [
        ["dump", "pipe"].as_slice(),
        &["diff", "sound", "pipe"],
        &["reassemble", "pipe", "-o", "out.s"],
        &["--raw", "pipe"],
        &["forecast", "pipe"],
        &["size", "pipe"],
        &["synthesize", "pipe", "-o", "out"],
        &["repair", "pipe", "-o", "out"],
        &["link", "--linker", "gold", "pipe"],
        &["link", "--linker", "gold", "-T", "pipe", "sound"],
        &["--debug-packages", "pipe", "sound"],
    ] {
        let text = run(folder.path(), arguments);
        assert!(text.contains("pipe"), "{arguments:?}: {text}");
    }
}
