//! Interrupting a scan with a store.

use std::fs;
use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Stdio;

use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use sframe_corpus::corpus;
use sframe_corpus::time::wait_until;

use crate::{command, folder, outcome};

/// A pipe into which nothing can be written before the test reads.
fn full_pipe() -> (PipeReader, PipeWriter) {
    let (output, mut input) = pipe().expect("a pipe");
    // A pipe with room has room for a page (pipe(7)).
    while has_room(&input) {
        input.write_all(&[b'\n'; 4096]).expect("it has room");
    }
    (output, input)
}

/// Whether a pipe takes more bytes.
fn has_room(input: &PipeWriter) -> bool {
    let mut pipes = [PollFd::new(input.as_fd(), PollFlags::POLLOUT)];
    poll(&mut pipes, PollTimeout::ZERO).expect("a pipe") > 0
}

/// Makes a store that has the first of two shards with one file each, and an earlier store that is damaged.
fn half_a_store(folder: &Path) {
    fs::create_dir(folder.join("tree")).expect("a folder");
    for name in ["tree/a", "tree/b"] {
        let program = corpus().join("golden/2.44/x86_64/static.exe");
        fs::copy(program, folder.join(name)).expect("a copy");
    }
    for arguments in [
        &["plan", "--shards", "2", "-o", "manifest", "tree"][..],
        &["scan", "--manifest", "manifest", "--store", "store", "--shard", "0"],
        &["--store", "earlier", "tree"],
    ] {
        let (status, _, error) = outcome(folder, arguments);
        assert_eq!(status, 0, "{arguments:?}: {error}");
    }
    fs::write(folder.join("earlier/shards/00000.ndjson.zst"), "").expect("writable");
}

#[test]
fn an_interrupted_scan_reports_its_finished_shards() {
    let folder = folder("interrupt");
    half_a_store(&folder);
    // The process that checks the files reports the damage before it checks a file, and cannot continue until the test
    // reads the report. A terminal sends the signal to the process group, which has this process and its parent.
    let (errors, full) = full_pipe();
    let arguments = ["--store", "store", "--resume", "--previous", "earlier", "tree"];
    let mut command = command(&folder, &arguments);
    command.process_group(0).stdout(Stdio::piped()).stderr(full);
    let scan = command.spawn().expect("it runs");
    // It has the pipe's other end.
    drop(command);
    let process = scan.id();
    let group = Pid::from_raw(process.try_into().expect("a process"));
    let children = format!("/proc/{process}/task/{process}/children");
    wait_until("the scan has no process that checks files", || {
        fs::read_to_string(&children).is_ok_and(|children| !children.is_empty())
    });
    killpg(group, Signal::SIGINT).expect("it runs");
    let error = text_of(errors);
    let output = scan.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(130), "{error}");
    assert!(error.contains("interrupted: 1 of 2 shards are stored"), "{error}");
    assert!(text.contains("1 input: 1 file checked"), "{text}");

    let (status, text, error) = outcome(&folder, &["--store", "store", "--resume", "tree"]);
    assert_eq!(status, 0, "{error}");
    assert!(text.contains("2 inputs: 2 files checked"), "{text}");
}

/// Everything that was written to a pipe.
fn text_of(mut pipe: PipeReader) -> String {
    let mut text = String::new();
    pipe.read_to_string(&mut text).expect("UTF-8");
    text
}
