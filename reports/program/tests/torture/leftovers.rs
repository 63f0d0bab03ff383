//! The processes and files of readers are removed, even if the program itself is killed.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use serde_json::Value;
use sframe_corpus::time::wait_until;

use crate::{cases, folder, report, script};

/// The command with which a process of a shell notes that it runs: its line of `/proc/PID/stat`, in a file that is named
/// after its process ID.
fn note(place: &Path) -> String {
    format!("read -r stat < /proc/$$/stat; echo \"$stat\" > {0}/$$", place.display())
}

/// The IDs of running processes among those that have noted that they run.
fn running(place: &Path) -> Vec<i32> {
    let entries = fs::read_dir(place).expect("readable").map(|entry| entry.expect("readable"));
    let process = |entry: fs::DirEntry| {
        let id: i32 = entry.file_name().to_str()?.parse().ok()?;
        let noted = start_time(&fs::read_to_string(entry.path()).ok()?)?;
        let now = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        // Another process may have got the same ID meanwhile.
        (start_time(&now)? == noted && state(&now)? != 'Z').then_some(id)
    };
    entries.filter_map(process).collect()
}

fn alive(place: &Path) -> usize {
    running(place).len()
}

/// The words of a line of `/proc/PID/stat` after the name, from field 3 on (proc_pid_stat(5)).
fn words(stat: &str) -> Option<impl Iterator<Item = &str>> {
    Some(stat.rsplit_once(") ")?.1.split_whitespace())
}

/// The state: `Z` for a zombie, `T` for a stopped process.
fn state(stat: &str) -> Option<char> {
    words(stat)?.next()?.chars().next()
}

/// When the process was started: field 22.
fn start_time(stat: &str) -> Option<u64> {
    words(stat)?.nth(22 - 3)?.parse().ok()
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
        wait_until("the program does not exit", || {
            status = self.child.try_wait().expect("a child process");
            status.is_some()
        });
        status.and_then(|status| status.code())
    }

    /// Reads the output to its end. Returns the exit status, standard output and standard error, which must fit into a
    /// pipe.
    fn output(&mut self) -> (Option<i32>, String, String) {
        let mut stdout = self.child.stdout.take().expect("piped");
        let mut stderr = self.child.stderr.take().expect("piped");
        let (mut output, mut errors) = (String::new(), String::new());
        stdout.read_to_string(&mut output).expect("UTF-8");
        stderr.read_to_string(&mut errors).expect("UTF-8");
        let status = self.child.wait().expect("a child process");
        (status.code(), output, errors)
    }

    /// Whether signals wait for the process (proc_pid_status(5), `ShdPnd`).
    fn has_signals_pending(&self) -> bool {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.expect("it runs");
        let pending = status.lines().find_map(|line| line.strip_prefix("ShdPnd:")).expect("a mask");
        pending.trim().bytes().any(|digit| digit != b'0')
    }
}

/// This also ends the processes that the program has started, if a test fails.
impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A reader that does not exit, except for valid sections. It has a child, and an orphan in a session of its own; each
/// makes a file in `place` that is named after its process ID.
fn reader_that_stays(name: &str, place: &Path) -> String {
    script(
        name,
        &format!(
            r#"case "$1" in */sound/*) exit 0 ;; esac
            stay='{0}; exec sleep 600'
            (setsid sh -c "$stay" &)
            sh -c "$stay" &
            {0}; sleep 600; :"#,
            note(place)
        ),
    )
}

/// Whether processes that this one starts ignore a signal (proc_pid_status(5), `SigIgn`): under `nohup`, they ignore SIGHUP.
fn is_ignored(signal: Signal) -> bool {
    let status = fs::read_to_string("/proc/self/status").expect("readable");
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).expect("a mask");
    let mask = u64::from_str_radix(mask.trim(), 16).expect("hexadecimal");
    let is_ignored = mask >> (signal as u32 - 1) & 1 != 0;
    if is_ignored {
        println!("skipped: {signal} is ignored here");
    }
    is_ignored
}

/// Readers, their child processes and temporary folders are removed when the program is killed, even by SIGKILL,
/// which the program itself cannot handle.
#[test]
fn nothing_outlives_the_program() {
    let signals = [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP, Signal::SIGKILL];
    for signal in signals.into_iter().filter(|signal| !is_ignored(*signal)) {
        let name = format!("reader-that-stays-{signal}");
        let place = folder(&name);
        let reader = reader_that_stays(&format!("{name}-script"), &place);
        let mut program = Program::start(&name, &["--timeout", "600", "--reader", &reader]);
        wait_until("readers do not run", || alive(&place) >= 6);
        assert!(program.left() > 0);
        program.signal(signal);
        let status = program.status();
        if signal != Signal::SIGKILL {
            assert_eq!((status, program.left()), (Some(130), 0), "{signal}");
        }
        wait_until(&format!("readers live on after {signal}"), || alive(&place) == 0);
        wait_until(&format!("folders are left after {signal}"), || program.left() == 0);
    }
}

/// The report has the cases that were run, and says that the run was interrupted.
#[test]
fn an_interrupted_run_reports_the_finished_cases() {
    let place = folder("reader-to-interrupt");
    let reader = reader_that_stays("reader-to-interrupt-script", &place);
    let arguments = ["--timeout", "600", "--reader", &reader, "--reader", "true"];
    let mut program = Program::start("interrupted", &arguments);
    wait_until("readers do not run", || alive(&place) >= 6);
    program.signal(Signal::SIGINT);
    let (status, stdout, stderr) = program.output();
    assert_eq!(status, Some(130));
    assert!(stderr.contains("interrupted"), "{stderr}");
    let report: Value = serde_json::from_str(&stdout).expect("complete JSON");
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
        &format!(
            "read -r stat < /proc/$PPID/stat; echo \"$stat\" > {0}/$PPID; kill -STOP $PPID; sleep 600",
            place.display()
        ),
    );
    let mut program = Program::start("second-signal", &["--reader", &reader]);
    let is_stopped = |id: &i32| {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        state(&stat) == Some('T')
    };
    let stopped = || running(&place).into_iter().filter(is_stopped).count();
    wait_until("the watchers are not stopped", || stopped() == 2);
    program.signal(Signal::SIGINT);
    // A second signal would be lost before the first one was received.
    wait_until("the first signal is not received", || !program.has_signals_pending());
    program.signal(Signal::SIGINT);
    assert_eq!(program.status(), Some(130));
    // After the first signal alone, it would have waited for its watchers for 15 seconds, and then killed them.
    assert_eq!(stopped(), 2, "the second signal was ignored");
    for id in running(&place) {
        kill(Pid::from_raw(id), Signal::SIGCONT).expect("a process");
    }
    wait_until("something is left", || alive(&place) == 0 && program.left() == 0);
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
            export stay='{1}; exec sleep 600'
            sh -c "$stay" &
            sh -c "$stay" >&- 2>&- &
            (setsid sh -c "$stay" &)
            setsid sh -c 'sh -c "sh -c \"\$stay\" &"' >&- 2>&- &
            while [ "$(cat {0}/* 2>/dev/null | wc -l)" -lt 4 ]; do sleep 0.01; done
            exit 3"#,
            place.display(),
            note(&place)
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
    let mut program = Program::start("odd-folders", &["--timeout", "600", "--reader", &reader]);
    let (status, stdout, stderr) = program.output();
    assert_eq!(status, Some(1), "{stderr}");
    let report: Value = serde_json::from_str(&stdout).expect("JSON");
    let cases = cases(&report);
    let sound: Vec<_> = cases.values().filter(|case| case["kind"] == "sound").collect();
    assert!(sound.iter().all(|case| case["exit_status"] == 0), "{sound:?}");
    let left: Vec<_> = fs::read_dir(&program.temporary).expect("readable").collect();
    assert!(left.is_empty(), "{left:?}");
}
