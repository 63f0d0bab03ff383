//! Files that would block whoever opens or reads them: the program ends at once, and says what they are.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use sframe_check::scan::{CheckOptions, Checker};
use sframe_input::Input;
use sframe_record::Status;

/// What takes longer waits for something.
const LONG: Duration = Duration::from_secs(20);

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo runs").success());
}

/// Runs the program in a folder; what it says, once it has ended by itself.
fn run(folder: &Path, arguments: &[&str]) -> String {
    let mut child = Command::new(env!("CARGO_BIN_EXE_sframe-check"))
        .args(arguments)
        .current_dir(folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program runs");
    let started = Instant::now();
    while child.try_wait().expect("it is there").is_none() {
        if started.elapsed() > LONG {
            child.kill().expect("it is there");
            panic!("{arguments:?} blocks");
        }
        thread::sleep(Duration::from_millis(10));
    }
    let output = child.wait_with_output().expect("it has ended");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    text(output.stdout) + &text(output.stderr)
}

/// A pipe that took the place of a file after the walk had met the file.
#[test]
fn a_pipe_in_place_of_a_file_is_not_waited_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("pipe");
    pipe(&path);
    let (sender, checked) = channel();
    thread::spawn(move || {
        let options = CheckOptions::default();
        Checker::new(&options).input(Input::File(path), &mut |piece| {
            let record = piece.record().expect("a whole record");
            let kind = record.reason.as_ref().map_or("", |kind| kind.as_str());
            let is_pipe = record.status == Status::Special && kind == "fifo";
            sender.send(is_pipe).expect("the test waits");
        });
    });
    assert!(checked.recv_timeout(LONG).expect("it does not block"), "it is reported as a pipe");
}

/// A thin archive has one member, which the pipe has the name of.
#[test]
fn a_thin_archive_may_name_a_pipe() {
    let folder = tempfile::tempdir().expect("a folder");
    let header = format!("{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", "f/", 0, 0, 0, 644, 100);
    fs::write(folder.path().join("thin.a"), format!("!<thin>\n{header}")).expect("writable");
    pipe(&folder.path().join("f"));
    for arguments in [["dump", "thin.a"], ["-v", "thin.a"]] {
        let text = run(folder.path(), &arguments);
        assert!(text.contains("it is not a regular file: named pipe"), "{text}");
    }
}

/// Reading /proc/kmsg waits for the next message of the kernel (proc(5)).
#[test]
fn a_link_to_messages_of_the_kernel_is_not_read() {
    let folder = tempfile::tempdir().expect("a folder");
    symlink("/proc/kmsg", folder.path().join("link")).expect("writable");
    for arguments in
        [["--follow-links", "."].as_slice(), &["link"], &["--raw", "link"], &["dump", "link"]]
    {
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

/// Every other way to name a file: each ends with a message.
#[test]
fn no_command_waits_for_a_pipe() {
    let folder = tempfile::tempdir().expect("a folder");
    let sound = sframe_corpus::corpus().join("golden/2.47.50/x86_64/static.exe");
    fs::copy(sound, folder.path().join("sound")).expect("it can be copied");
    pipe(&folder.path().join("pipe"));
    for arguments in [
        ["dump", "pipe"].as_slice(),
        &["diff", "sound", "pipe"],
        &["reassemble", "pipe", "-o", "out.s"],
        &["--raw", "pipe"],
        &["--debug-packages", "pipe", "sound"],
    ] {
        let text = run(folder.path(), arguments);
        assert!(text.contains("pipe"), "{arguments:?}: {text}");
    }
}
