//! The pager, on a terminal made by `script`: `PAGER` is a command that writes what it gets to the file `paged`.

use std::fs;
use std::process::{Command, Stdio};

use sframe_corpus::tools;

const FILE: &str = "golden/2.47.50/x86_64/static.exe";

/// What a run on a terminal with 24 rows has shown there, and what the pager got, if it was started.
struct Shown {
    terminal: String,
    paged: Option<String>,
    status: i32,
}

/// Runs a command of the program in a shell on a terminal.
fn shown(name: &str, pager: &str, arguments: &str) -> Option<Shown> {
    if !tools::are_terminals_made() {
        return None;
    }
    let folder = sframe_corpus::folder!(format!("pager-{name}"));
    let _ = fs::remove_file(folder.join("paged"));
    let command = format!("stty rows 24 cols 80; \"$PROGRAM\" {arguments}; echo $? >status");
    let script = Command::new("script")
        .args(["-qec", &command, "/dev/null"])
        .env("PROGRAM", env!("CARGO_BIN_EXE_sframe-check"))
        .env("FILE", sframe_corpus::corpus().join(FILE))
        .env("TERM", "xterm")
        .env("PAGER", pager)
        .current_dir(&folder)
        .stdin(Stdio::null())
        .output()
        .expect("script runs");
    let status = fs::read_to_string(folder.join("status")).expect("a status");
    Some(Shown {
        terminal: String::from_utf8_lossy(&script.stdout).replace("\r\n", "\n"),
        paged: fs::read_to_string(folder.join("paged")).ok(),
        status: status.trim().parse().expect("a number"),
    })
}

const PAGER: &str = "sh -c 'cat >paged'";

/// What a dump prints where there is no terminal.
fn dump() -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_sframe-check"))
        .arg("dump")
        .arg(sframe_corpus::corpus().join(FILE))
        .env("PAGER", "false")
        .output()
        .expect("it runs");
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(text.lines().count() > 24, "it is longer than the screen");
    text
}

#[test]
fn output_longer_than_the_screen_goes_through_the_pager() {
    let Some(shown) = shown("long", PAGER, "dump \"$FILE\"") else { return };
    assert_eq!(shown.paged.as_deref(), Some(dump().as_str()));
    assert_eq!((shown.terminal.as_str(), shown.status), ("", 0));
}

#[test]
fn output_that_fits_the_screen_does_not() {
    let Some(shown) = shown("short", PAGER, "lookup \"$FILE\" _start") else { return };
    assert!(shown.paged.is_none() && shown.terminal.contains("SFrame"), "{}", shown.terminal);
}

#[test]
fn nobody_gets_a_pager_who_wants_none() {
    let dump = dump();
    for (name, pager, arguments) in [
        ("option", PAGER, "--no-pager dump \"$FILE\""),
        ("empty", "", "dump \"$FILE\""),
        ("cat", "cat", "dump \"$FILE\""),
        ("missing", "no-such-pager", "dump \"$FILE\""),
        ("dumb", PAGER, "dump \"$FILE\" | cat"),
    ] {
        let Some(shown) = shown(name, pager, arguments) else { return };
        assert!(shown.paged.is_none(), "{name}");
        assert_eq!((shown.terminal.as_str(), shown.status), (dump.as_str(), 0), "{name}");
    }
}

/// Who leaves the pager has seen enough: the rest, more than a pipe holds, is not written, and no message is printed.
#[test]
fn the_pager_may_be_left() {
    let Some(shown) = shown("left", "true", "explain --all") else { return };
    assert_eq!((shown.terminal.as_str(), shown.status), ("", 141));
}

/// A message follows the output before it: on the terminal, or in the pager.
#[test]
fn messages_follow_the_output() {
    let check = "--min-coverage 100 \"$FILE\" --format";
    let Some(short) = shown("message", PAGER, &format!("{check} junit")) else { return };
    assert!(short.paged.is_none() && short.status == 1, "{}", short.terminal);
    let Some(long) = shown("long-message", PAGER, &format!("{check} sarif")) else { return };
    assert_eq!(long.terminal, "");
    for text in [short.terminal, long.paged.unwrap_or_default()] {
        let last = text.lines().last().unwrap_or_default();
        let is_message = last.starts_with("sframe-check: SFrame describes 85.4 % of the code");
        assert!(is_message && text.lines().count() > 1, "{text}");
    }
}
