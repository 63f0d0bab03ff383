//! Running programs under limits: their input, output and files, and the report of how they ended. The programs are
//! shell scripts, so the expected values follow from POSIX.
//!
//! This test program is its own watcher process, for which it needs its own `main`.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;

use sframe_harness::limited::{
    Command, End, Finished, Folder, Limits, NotRun, Runner, watch_if_asked,
};

const LIMITS: Limits = Limits { seconds: 10, memory_mib: 1024 };

fn main() -> ExitCode {
    if let Some(status) = watch_if_asked() {
        return status;
    }
    input_is_a_file();
    streams_are_separate_or_merged();
    the_start_of_a_stream_is_kept();
    files_exist_as_long_as_the_result();
    only_files_that_a_program_made_are_read();
    a_program_that_cannot_be_started_is_an_error();
    a_stopped_program_is_not_reported();
    a_waiting_program_is_killed_at_the_time_limit();
    nothing_outlives_a_stopped_watcher();
    ExitCode::SUCCESS
}

fn own_path() -> PathBuf {
    std::env::current_exe().expect("a program has a path")
}

fn shell(script: &str) -> Command {
    Command::new(["sh", "-c", script])
}

fn run(command: &Command) -> Finished {
    let folder = Folder::new().expect("disk space");
    Runner::new(&own_path(), LIMITS).run(command, folder).expect("sh runs")
}

fn input_is_a_file() {
    let folder = Folder::new().expect("disk space");
    let file = folder.path().join("input");
    fs::write(&file, "a\nb\n").expect("disk space");
    let command = Command { input: Some(file.into()), ..shell("cat; exit 7") };
    let finished = Runner::new(&own_path(), LIMITS).run(&command, folder).expect("sh runs");
    assert_eq!((finished.ran.end, &finished.ran.output[..]), (End::Status(7), &b"a\nb\n"[..]));
    assert!(run(&shell("cat")).ran.output.is_empty());
}

fn streams_are_separate_or_merged() {
    let separate = shell("echo 1; echo 2 >&2; echo 3");
    let ran = run(&separate).into_ran();
    assert_eq!((&ran.output[..], &ran.errors[..], ran.printed), (&b"1\n3\n"[..], &b"2\n"[..], 6));
    let ran = run(&Command { together: true, ..separate }).into_ran();
    assert_eq!((&ran.output[..], &ran.errors[..], ran.printed), (&b"1\n2\n3\n"[..], &b""[..], 6));
}

fn the_start_of_a_stream_is_kept() {
    // Each line has 10 digits and a line feed, 11 bytes.
    let script = shell("i=0; while [ $i -lt 30000 ]; do echo 0123456789; i=$((i + 1)); done");
    let (default, all) = (run(&script).into_ran(), Command { keep: 1 << 20, ..script });
    assert_eq!((default.output.len(), default.printed), (64 << 10, 330_000));
    let all = run(&all).into_ran();
    assert_eq!((all.output.len(), all.printed), (330_000, 330_000));
    assert!(all.output.starts_with(&default.output) && all.output.ends_with(b"9\n"));
}

fn files_exist_as_long_as_the_result() {
    let finished = run(&shell("echo made > file; mktemp; pwd"));
    let work = finished.folder().work();
    assert_eq!(fs::read(work.join("file")).expect("it exists"), b"made\n");
    assert_eq!(finished.folder().read("file").expect("it exists"), b"made\n");
    let printed = String::from_utf8(finished.ran.output.clone()).expect("UTF-8");
    let paths: Vec<&Path> = printed.lines().map(Path::new).collect();
    let [temporary, current] = paths[..] else { panic!("{printed}") };
    assert!(temporary.starts_with(&work) && temporary.exists());
    assert_eq!(current, work.canonicalize().expect("it exists"));
    let folder = finished.folder().path().to_owned();
    drop(finished);
    assert!(!folder.exists());
}

fn only_files_that_a_program_made_are_read() {
    let script = "mkfifo pipe; ln -s /dev/zero link; mkdir folder";
    let finished = run(&shell(script));
    for (name, expected) in [
        ("pipe", "it is not a regular file"),
        ("link", "Too many levels of symbolic links"),
        ("folder", "it is not a regular file"),
    ] {
        let error = finished.folder().read(name).expect_err(name).to_string();
        assert!(error.starts_with(expected), "{name}: {error}");
    }
}

fn a_program_that_cannot_be_started_is_an_error() {
    let folder = Folder::new().expect("disk space");
    let path = folder.path().to_owned();
    let error = Runner::new(&own_path(), LIMITS).run(&Command::new(["/no/such"]), folder);
    let error = error.expect_err("there is no such program");
    // ENOENT (errno(3)).
    assert_eq!(error.to_string(), "No such file or directory (os error 2)");
    assert!(matches!(error, NotRun::NotStarted(_)) && !path.exists());
}

fn a_stopped_program_is_not_reported() {
    let folder = Folder::new().expect("disk space");
    let path = folder.path().to_owned();
    let started = path.join("work/started");
    let stop = || started.exists();
    let watcher = own_path();
    let runner = Runner { stop: &stop, ..Runner::new(&watcher, LIMITS) };
    let result = runner.run(&shell("echo > started; sleep 600"), folder);
    assert!(matches!(result, Err(NotRun::Stopped)) && !path.exists());
}

fn a_waiting_program_is_killed_at_the_time_limit() {
    let limits = Limits { seconds: 1, ..LIMITS };
    let folder = Folder::new().expect("disk space");
    let path = folder.path().to_owned();
    let result = Runner::new(&own_path(), limits).run(&shell("sleep 600 & sleep 600"), folder);
    let ran = result.expect("sh runs").into_ran();
    assert_eq!((ran.end, ran.cost), (End::TimedOut, None));
    assert!(!path.exists());
}

/// A program stops its watcher, which cannot end it any more. After a while, the caller kills the watcher and everything that
/// the program has started, also in another session.
fn nothing_outlives_a_stopped_watcher() {
    let folder = Folder::new().expect("disk space");
    let path = folder.path().to_owned();
    let orphan = path.join("orphan");
    let note = format!("read -r stat < /proc/$$/stat; echo \"$stat\" > {}", orphan.display());
    let script = format!("kill -STOP $PPID; setsid sh -c '{note}; exec sleep 600' & sleep 600");
    let stat = || fs::read_to_string(&orphan).unwrap_or_default();
    let last = Mutex::new(String::new());
    let stop = || {
        let stat = stat();
        let is_complete = stat.ends_with('\n');
        *last.lock().expect("no panic") = stat;
        is_complete
    };
    let watcher = own_path();
    let runner = Runner { stop: &stop, ..Runner::new(&watcher, LIMITS) };
    assert!(matches!(runner.run(&shell(&script), folder), Err(NotRun::Stopped)));
    assert!(!path.exists());
    // The fields from the state on; the last one here is the time of the start (proc_pid_stat(5)).
    let fields = |stat: &str| -> Option<Vec<String>> {
        Some(stat.rsplit_once(") ")?.1.split_whitespace().take(20).map(str::to_owned).collect())
    };
    let noted = last.into_inner().expect("no panic");
    let id = noted.split(' ').next().expect("an id");
    let start = fields(&noted).expect("fields").pop();
    let now = fs::read_to_string(format!("/proc/{id}/stat")).ok().and_then(|now| fields(&now));
    let lives = |now: Vec<String>| now.last() == start.as_ref() && now[0] != "Z";
    assert!(!now.is_some_and(lives), "{noted}");
}
