//! How a trace begins and ends.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use sframe_corpus::time::wait_until;
use sframe_corpus::{folder, program};

use crate::{is_permitted, trace};

/// The processes in a process group: their ids and states.
fn group(leader: u32) -> Vec<(i32, char)> {
    let entries = std::fs::read_dir("/proc").expect("processes");
    let stats = entries.flatten().filter_map(|entry| {
        let text = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        let (id, rest) = text.split_once(" (")?;
        let mut words = rest.rsplit_once(") ")?.1.split(' ');
        let (state, _parent, group) = (words.next()?, words.next()?, words.next()?);
        let is_in = group.parse() == Ok(leader);
        is_in.then(|| Some((id.parse().ok()?, state.chars().next()?)))?
    });
    stats.collect()
}

#[test]
fn the_status_of_the_program_is_reported_and_not_passed_on() {
    if !is_permitted() {
        return;
    }
    let folder = folder!("trace-status");
    let ended = trace(&folder, &[], &["sh", "-c", "echo output; exit 77"]);
    assert_eq!((&ended.report["end"], &ended.report["status"]), (&"exited".into(), &77.into()));
    assert_eq!(ended.text, "output\n");
    assert!(ended.status < 3);
    let killed = trace(&folder, &[], &["sh", "-c", "kill -9 $$"]);
    assert_eq!((&killed.report["end"], &killed.report["signal"]), (&"killed".into(), &9.into()));
    assert_eq!(killed.status, 4);
}

#[test]
fn limits_end_the_program() {
    if !is_permitted() {
        return;
    }
    let folder = folder!("trace-limits");
    let steps = trace(&folder, &["--max-steps", "5000"], &["sleep", "100"]);
    assert_eq!(steps.report["end"], "max-steps");
    assert_eq!(steps.report["steps"], 5000);
    assert_eq!(steps.status, 5);
    // The program sleeps, and its child runs.
    let command = "(while :; do :; done) & sleep 1000";
    let time = trace(&folder, &["--time-limit", "3"], &["sh", "-c", command]);
    assert_eq!(time.report["end"], "time-limit");
    assert_eq!(time.status, 5);
}

/// A child that cannot be followed is counted; nothing says what it did.
#[test]
fn children_that_are_not_traced_are_counted() {
    let folder = folder!("trace-untraced");
    let source = crate::sources().join("untraced.c");
    let command = format!("gcc -O1 -o untraced {}", source.display());
    if !is_permitted() || !sframe_corpus::tools::run(&folder, "gcc", &command) {
        return;
    }
    let traced = trace(&folder, &[], &["./untraced"]);
    assert_eq!(traced.report["status"], 0, "{}", traced.report);
    assert_eq!((&traced.report["processes"], &traced.report["untraced"]), (&2.into(), &1.into()));
    assert_eq!(traced.status, 2);
    let text = program::run(&folder, &["trace", "--", "./untraced"]).text;
    let line = "children made with CLONE_UNTRACED, which nothing can trace: 1, undecided\n";
    assert!(text.contains(line), "{text}");
}

/// The executable starts without a caller, after the dynamic linker has bound its symbols.
#[test]
fn a_trace_can_start_at_the_entry() {
    if !is_permitted() {
        return;
    }
    let folder = folder!("trace-entry");
    let whole = trace(&folder, &[], &["/bin/true"]);
    let part = trace(&folder, &["--from-entry"], &["/bin/true"]);
    let steps = |traced: &crate::Traced| traced.report["steps"].as_u64().expect("a number");
    assert!(steps(&part) * 5 < steps(&whole), "{} {}", steps(&part), steps(&whole));
    assert_eq!(part.counts("true", "CFI"), whole.counts("true", "CFI"));
    assert_eq!(part.status, 0, "{}", part.report);
}

/// Starts a trace of a program that does not end, in a process group of its own.
fn endless(folder: &Path) -> std::process::Child {
    let command = "echo started; (sleep 1000) & while :; do :; done";
    let mut trace = program::command(folder, &["trace", "--", "sh", "-c", command]);
    let started = folder.join("output");
    let output = std::fs::File::create(&started).expect("a file");
    let child = trace.process_group(0).stdout(output).stderr(Stdio::null()).spawn();
    let child = child.expect("the program starts");
    wait_until("the traced program does not run", || {
        std::fs::read_to_string(&started).is_ok_and(|text| text.contains("started"))
    });
    child
}

/// Waits until nothing is left of a group: neither processes nor zombies.
fn wait_until_gone(leader: u32) {
    wait_until("processes are left", || group(leader).is_empty());
}

#[test]
fn ctrl_c_ends_both() {
    if !is_permitted() {
        return;
    }
    let folder = folder!("trace-interrupt");
    let mut child = endless(&folder);
    let leader = child.id();
    assert!(group(leader).len() >= 2, "{:?}", group(leader));
    // As a terminal does: to all of the group.
    let id = Pid::from_raw(-i32::try_from(leader).expect("an id"));
    kill(id, Signal::SIGINT).expect("the group exists");
    let status = child.wait().expect("it ends");
    assert_eq!(status.code(), Some(130));
    wait_until_gone(leader);
    let text = std::fs::read_to_string(folder.join("output")).expect("a report");
    assert!(text.contains("sh was interrupted: "), "{text}");
}

#[test]
fn the_program_dies_with_the_tracer() {
    if !is_permitted() {
        return;
    }
    let mut child = endless(&folder!("trace-killed"));
    let leader = child.id();
    child.kill().expect("it runs");
    child.wait().expect("it ends");
    wait_until_gone(leader);
}

/// A program that sends itself SIGTRAP, stops itself, and is continued, behaves as usual.
#[test]
fn signals_of_debuggers_are_passed_on() {
    if !is_permitted() {
        return;
    }
    let command = "trap 'echo trapped' TRAP; kill -TRAP $$; (sleep 0.3; kill -CONT $$) & kill -STOP $$; wait; echo end";
    let found = trace(&folder!("trace-trap"), &["--time-limit", "1000"], &["sh", "-c", command]);
    assert_eq!(found.text, "trapped\nend\n");
    assert_eq!(found.report["end"], "exited");
}

#[test]
fn a_program_that_cannot_start_is_an_error() {
    let run = Command::new(program::path())
        .args(["trace", "--", "/nowhere/program"])
        .output()
        .expect("the program runs");
    assert_eq!(run.status.code(), Some(3));
    let text = String::from_utf8_lossy(&run.stderr).into_owned();
    let reason = "/nowhere/program cannot be traced: No such file or directory";
    assert_eq!(text, format!("sframe-check: {reason}\n"));
    assert_eq!(run.stdout, b"");
}

#[test]
fn a_pattern_that_matches_nothing_is_reported() {
    if !is_permitted() {
        return;
    }
    let arguments = ["trace", "--only", "**/nothing", "--", "/bin/true"];
    let run = program::run(&folder!("trace-nothing"), &arguments);
    assert_eq!(run.status, 2);
    assert!(run.text.starts_with("no file whose code was executed matches --only\n"), "{run:?}");
}
