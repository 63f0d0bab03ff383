//! The processes and files of readers are removed, even if the program itself is killed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;

use crate::{cases, folder, report, script};

/// The number of running processes among those whose IDs are the names of files in a folder.
fn alive(place: &Path) -> usize {
    let names = fs::read_dir(place).expect("readable").map(|e| e.expect("readable").file_name());
    let numbers = names.filter_map(|name| name.to_str()?.parse::<u32>().ok());
    numbers.filter(|number| is_alive(*number)).count()
}

/// Whether a process exists and is not a zombie.
fn is_alive(number: u32) -> bool {
    let state = fs::read_to_string(format!("/proc/{number}/stat")).unwrap_or_default();
    state.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
}

fn eventually(mut holds: impl FnMut() -> bool) -> bool {
    (0..1_000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        holds()
    })
}

/// The running program, with its own folder for temporary files.
struct Program {
    child: Child,
    temporary: PathBuf,
}

impl Program {
    fn start(name: &str, arguments: &[&str]) -> Program {
        let temporary = folder(&format!("{name}-temporary"));
        // A low limit of open files, which would be exceeded by opening each level of a deep folder.
        let child = Command::new("sh")
            .args(["-c", "ulimit -n 256; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_sframe-check")])
            .args(["torture", "--format", "json", "--threads", "2"])
            .args(arguments)
            .env("TMPDIR", &temporary)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program runs");
        Program { child, temporary }
    }

    fn signal(&self, signal: Signal) {
        let number = self.child.id().try_into().expect("a process");
        kill(Pid::from_raw(number), signal).expect("it runs");
    }

    fn left(&self) -> usize {
        fs::read_dir(&self.temporary).expect("readable").count()
    }

    /// Waits for the program to exit. Its output must fit into a pipe.
    fn status(&mut self) -> Option<i32> {
        let mut status = None;
        let has_exited = eventually(|| {
            status = self.child.try_wait().expect("a child process");
            status.is_some()
        });
        if !has_exited {
            // This also ends the processes that it has started.
            self.child.kill().expect("a child process");
        }
        assert!(has_exited, "the program does not exit");
        status.and_then(|status| status.code())
    }
}

/// A reader that does not exit, except for valid sections. It has a child, and an orphan in a session of its own; each
/// makes a file in `place` that is named after its process ID.
fn reader_that_stays(name: &str, place: &Path) -> String {
    script(
        name,
        &format!(
            r#"case "$1" in */sound/*) exit 0 ;; esac
            note='echo $$ > {0}/$$; exec sleep 600'
            (setsid sh -c "$note" &)
            sh -c "$note" &
            echo $$ > {0}/$$; sleep 600; :"#,
            place.display()
        ),
    )
}

/// Readers, their child processes and temporary folders are removed when the program is killed, even by SIGKILL,
/// which the program itself cannot handle.
#[test]
fn nothing_outlives_the_program() {
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGKILL] {
        let name = format!("reader-that-stays-{signal}");
        let place = folder(&name);
        let reader = reader_that_stays(&format!("{name}-script"), &place);
        let mut program = Program::start(&name, &["--timeout", "600", "--reader", &reader]);
        assert!(eventually(|| alive(&place) >= 6), "readers do not run");
        assert!(program.left() > 0);
        program.signal(signal);
        let status = program.status();
        if signal != Signal::SIGKILL {
            assert_eq!((status, program.left()), (Some(130), 0), "{signal}");
        }
        assert!(eventually(|| alive(&place) == 0), "readers live on after {signal}");
        assert!(eventually(|| program.left() == 0), "folders are left after {signal}");
    }
}

/// The report has the cases that were run, and says that the run was interrupted.
#[test]
fn an_interrupted_run_reports_the_finished_cases() {
    let place = folder("reader-to-interrupt");
    let reader = reader_that_stays("reader-to-interrupt-script", &place);
    let arguments = ["--timeout", "600", "--reader", &reader, "--reader", "true"];
    let mut program = Program::start("interrupted", &arguments);
    assert!(eventually(|| alive(&place) >= 6), "readers do not run");
    program.signal(Signal::SIGINT);
    assert_eq!(program.status(), Some(130));
    let output = program.child.wait_with_output().expect("it has exited");
    let stderr = String::from_utf8(output.stderr).expect("UTF-8");
    assert!(stderr.contains("interrupted"), "{stderr}");
    let report: Value = serde_json::from_slice(&output.stdout).expect("complete JSON");
    assert_eq!(report["interrupted"], true);
    // There are 15 valid sections: 3 machines of version 1, and 4 each of both kinds of version 2 and of version 3.
    let cases = cases(&report);
    assert_eq!(cases.len(), 15);
    assert!(cases.values().all(|case| case["kind"] == "sound" && case["verdict"] == "accept"));
    assert_eq!(report["readers"][1]["cases"].as_array().map(Vec::len), Some(0));
}

/// This reader stops the process that watches it, so that the program waits after the first signal.
#[test]
fn a_second_signal_ends_the_program_at_once() {
    let place = folder("reader-that-stops-its-watcher");
    let reader = script(
        "reader-that-stops-its-watcher-script",
        &format!("echo $$ > {0}/$PPID; kill -STOP $PPID; sleep 600", place.display()),
    );
    let mut program = Program::start("second-signal", &["--reader", &reader]);
    assert!(eventually(|| alive(&place) >= 2), "readers do not run");
    program.signal(Signal::SIGINT);
    std::thread::sleep(Duration::from_millis(300));
    assert!(program.child.try_wait().expect("a process").is_none());
    program.signal(Signal::SIGINT);
    let status = |program: &mut Program| program.child.try_wait().expect("a child process");
    assert!((0..100).any(|_| {
        std::thread::sleep(Duration::from_millis(20));
        status(&mut program).is_some()
    }));
    assert_eq!(program.child.wait().expect("it has exited").code(), Some(130));
    for entry in fs::read_dir(&place).expect("readable") {
        let name = entry.expect("readable").file_name();
        let number = name.to_str().and_then(|name| name.parse().ok()).expect("a number");
        kill(Pid::from_raw(number), Signal::SIGCONT).expect("a process");
    }
    assert!(eventually(|| alive(&place) == 0 && program.left() == 0));
}

/// The verdict depends on the reader's own exit status. Processes that it started are killed, even those in a session
/// of their own.
#[test]
fn remaining_processes_of_a_reader_are_killed() {
    let place = folder("reader-with-children");
    let reader = script(
        "reader-with-children-script",
        &format!(
            r#"case "$1" in */sound/v2-amd64.elf) ;; *) exit 0 ;; esac
            note='echo $$ > {0}/$$; exec sleep 600'
            sh -c "$note" &
            sh -c "$note" >&- 2>&- &
            (setsid sh -c "$note" &)
            setsid sh -c "sh -c 'sh -c "echo \$\$ > {0}/\$\$; exec sleep 600" &'" >&- 2>&- &
            while [ "$(ls {0} | wc -l)" -lt 4 ]; do sleep 0.01; done
            exit 3"#,
            place.display()
        ),
    );
    let (_, report) = report(&["--reader", &reader]);
    let cases = cases(&report);
    assert_eq!(cases["sound/v2-amd64.elf"]["exit_status"], 3);
    assert_eq!(fs::read_dir(&place).expect("readable").count(), 4);
    assert_eq!(alive(&place), 0);
}

/// Folders nested deeper than the limits of path lengths and open files, folders without permissions, and folders with
/// the names that the program itself uses while removing others.
#[test]
fn unusual_temporary_folders_are_removed() {
    let reader = script(
        "reader-with-odd-folders",
        r#"case "$1" in
            */sound/v2-amd64.elf)
                deep=$(printf 'd/%.0s' $(seq 1500))
                for n in 1 2 3; do mkdir -p $deep && cd -P ./$deep || exit 1; done ;;
            */sound/v3-amd64.elf) mkdir -p a/b/c && : > a/b/d && chmod 0 a/b/c a/b a . ;;
            */sound/v1-amd64.elf)
                mkdir -p a/b/c ../moved-1/x && : > ../moved-2 && ln -s / a/b/root ;;
        esac"#,
    );
    let program = Program::start("odd-folders", &["--reader", &reader]);
    let temporary = program.temporary.clone();
    let output = program.child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(1));
    let report: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let cases = cases(&report);
    let sound: Vec<_> = cases.values().filter(|case| case["kind"] == "sound").collect();
    assert!(sound.iter().all(|case| case["exit_status"] == 0), "{sound:?}");
    let left: Vec<_> = fs::read_dir(temporary).expect("readable").collect();
    assert!(left.is_empty(), "{left:?}");
}
