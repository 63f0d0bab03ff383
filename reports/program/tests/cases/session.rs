//! A case: a Markdown file whose `console` blocks are shell sessions.
//!
//! ```console
//! $ a command, continued on lines that start with >
//! ? 2
//! a line of standard output
//! 2> a line of standard error
//! ```
//!
//! The line with the exit status is omitted if that is 0. In outputs, `[..]` matches any text in a line, and `...` any
//! lines. The commands of a file run in one folder. At first, it has only a link `corpus`, and a link `input` to the
//! folder next to the case with the same name, if there is one.

use std::fmt::Write;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use snapbox::assert::{Action, Assert};
use snapbox::{Data, Redactions};

use sframe_corpus::{corpus, folder, program, tools};

use crate::fixtures;

const FENCE: &str = "```";
/// Printed after an output that does not end with a newline.
const UNFINISHED: &str = "(no newline at the end)";

/// A part of a case: text, or a command with its expected output.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    Text(String),
    Command { script: String, expected: Vec<String> },
}

fn parts(text: &str) -> Vec<Part> {
    let (mut parts, mut in_session) = (Vec::new(), false);
    for line in text.lines() {
        match (in_session, parts.last_mut()) {
            (true, Some(Part::Command { .. }) | None) if line == FENCE => {
                in_session = false;
                parts.push(Part::Text(line.to_owned()));
            }
            (true, _) if line.starts_with("$ ") => {
                let script = line[2..].to_owned();
                parts.push(Part::Command { script, expected: Vec::new() });
            }
            (true, Some(Part::Command { script, expected }))
                if expected.is_empty() && line.starts_with("> ") =>
            {
                script.push('\n');
                script.push_str(&line[2..]);
            }
            (true, Some(Part::Command { expected, .. })) => expected.push(line.to_owned()),
            _ => {
                in_session = line == "```console";
                parts.push(Part::Text(line.to_owned()));
            }
        }
    }
    parts
}

/// The reason why a case proves nothing, or is not safe to print.
fn fault(text: &str, parts: &[Part]) -> Option<&'static str> {
    let outputs = parts.iter().filter_map(|part| match part {
        Part::Command { script, expected } => Some((script, expected)),
        Part::Text(_) => None,
    });
    let ours: Vec<_> = outputs.filter(|(script, _)| script.contains("sframe-check")).collect();
    if !text.starts_with("# ") {
        Some("the first line says what the case shows, as a title")
    } else if !text.chars().all(is_harmless) {
        Some("it has control characters, or characters that change the direction of text")
    } else if ours.is_empty() {
        Some("it does not run sframe-check")
    } else if ours.iter().all(|(_, expected)| expected.is_empty()) {
        Some("it expects no output")
    } else if ours.iter().any(|(_, expected)| is_anything(expected)) {
        Some("it expects any output")
    } else {
        None
    }
}

/// Whether any output would match.
fn is_anything(expected: &[String]) -> bool {
    let mut lines = expected.iter().filter(|line| !line.starts_with("? ")).peekable();
    lines.peek().is_some() && lines.all(|line| line == "...")
}

/// Whether a character neither moves the cursor nor changes the direction of text (Unicode, ECMA-48).
fn is_harmless(c: char) -> bool {
    let is_bidi = matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    c == '\n' || !c.is_control() && !is_bidi
}

/// Whether the tools in the case's line `Needs: ...` are installed.
fn has_tools(parts: &[Part]) -> bool {
    let needs = parts.iter().filter_map(|part| match part {
        Part::Text(line) => line.strip_prefix("Needs: "),
        Part::Command { .. } => None,
    });
    needs.flat_map(|names| names.split(", ")).all(tools::is_installed)
}

/// Runs the commands of a case and compares their output with the file, or writes the file if `SFRAME_BLESS` is set.
pub(crate) fn replay(case: &Path) -> Result<(), String> {
    let text = fs::read_to_string(case).map_err(|error| error.to_string())?;
    let parts = parts(&text);
    if !has_tools(&parts) {
        return Ok(());
    }
    let folder = folder(case);
    let places = places(&folder);
    let mut transcript = String::new();
    for part in &parts {
        match part {
            Part::Text(line) => transcript.push_str(line),
            Part::Command { script, .. } => {
                let _ = write!(transcript, "$ {}", script.replace('\n', "\n> "));
                transcript.push_str(&places.redact(&outcome(&folder, script)));
            }
        }
        transcript.push('\n');
    }
    let bless = std::env::var_os("SFRAME_BLESS").is_some();
    let action = if bless { Action::Overwrite } else { Action::Verify };
    let assert = Assert::new().normalize_paths(false).action(action);
    let expected = Data::read_from(case, None);
    assert.try_eq(None, transcript.into(), expected).map_err(|error| error.to_string())?;
    let written = fs::read_to_string(case).map_err(|error| error.to_string())?;
    match fault(&written, &self::parts(&written)) {
        Some(fault) => Err(fault.to_owned()),
        None => fs::remove_dir_all(&folder).map_err(|error| error.to_string()),
    }
}

/// Placeholders for text that differs from one machine, run or version to another.
fn places(folder: &Path) -> Redactions {
    let mut places = Redactions::new();
    let corpus = corpus().canonicalize().expect("the corpus exists");
    for (word, path) in [("[HERE]", folder), ("[CORPUS]", &*corpus)] {
        let path = path.to_str().expect("UTF-8").to_owned();
        places.insert(word, path).expect("a word in brackets");
    }
    places.insert("[VERSION]", env!("CARGO_PKG_VERSION")).expect("a word in brackets");
    let digest = regex::Regex::new("[0-9a-f]{64}").expect("an expression");
    places.insert("[DIGEST]", digest).expect("a word in brackets");
    places
}

/// Makes the folder in which a case runs, with a link to the corpus, and one to the case's own files if it has any.
fn folder(case: &Path) -> PathBuf {
    let subject = case.parent().and_then(Path::file_name).expect("a folder");
    let name = case.file_stem().expect("a name");
    let folder = folder!(format!("cases/{}/{}", subject.display(), name.display()));
    symlink(corpus(), folder.join("corpus")).expect("a link can be made");
    let own = case.with_extension("");
    if own.is_dir() {
        symlink(own, folder.join("input")).expect("a link can be made");
    }
    folder.canonicalize().expect("it exists")
}

/// Runs a command, and returns the lines after it: the exit status, if not 0, and the output.
fn outcome(folder: &Path, script: &str) -> String {
    if let Some(name) = script.strip_prefix("fixture ") {
        fixtures::make(name, folder);
        return String::new();
    }
    let Output { status, stdout, stderr } = shell(folder, script);
    let mut lines = String::new();
    match status.code() {
        Some(0) => {}
        Some(code) => lines.push_str(&format!("\n? {code}")),
        None => lines.push_str(&format!("\n? {status}")),
    }
    for (mark, output) in [("", stdout), ("2> ", stderr)] {
        let text = String::from_utf8(output).expect("UTF-8");
        for line in text.lines() {
            lines.push('\n');
            lines.push_str(if line.is_empty() { mark.trim_end() } else { mark });
            lines.push_str(line);
        }
        if !text.is_empty() && !text.ends_with('\n') {
            lines.push('\n');
            lines.push_str(UNFINISHED);
        }
    }
    lines
}

/// Runs a shell in an environment that is the same everywhere.
fn shell(folder: &Path, script: &str) -> Output {
    let program = program::path();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = vec![program.parent().expect("in a folder").to_owned()];
    folders.extend(std::env::split_paths(&path));
    Command::new("sh")
        .args(["-c", script])
        .current_dir(folder)
        .env_clear()
        .env("PATH", std::env::join_paths(folders).expect("no colons"))
        .env("HOME", folder)
        .env("LC_ALL", "C.UTF-8")
        .env("TZ", "UTC")
        .stdin(Stdio::null())
        .output()
        .expect("sh runs")
}

#[test]
fn a_session_has_commands_and_outputs() {
    let text = "# T\n```console\n$ a\n> b\n? 1\n\n2> c\n$ d\n```\n$ e\n";
    let command = |script: &str, expected: &[&str]| Part::Command {
        script: script.to_owned(),
        expected: expected.iter().map(|&line| line.to_owned()).collect(),
    };
    let expected = [
        Part::Text("# T".to_owned()),
        Part::Text("```console".to_owned()),
        command("a\nb", &["? 1", "", "2> c"]),
        command("d", &[]),
        Part::Text("```".to_owned()),
        Part::Text("$ e".to_owned()),
    ];
    assert_eq!(parts(text), expected);
}

#[test]
fn cases_that_cannot_fail_are_refused() {
    let session = |commands: &str| format!("# T\n```console\n{commands}\n```\n");
    for (text, is_valid) in [
        (session("$ sframe-check x\n? 3\n2> error: x"), true),
        (session("$ sframe-check -q x\n$ sframe-check x\nx"), true),
        (session("$ sframe-check x\n? 3").replace("# T", "T"), false),
        (session("$ sframe-check x"), false),
        (session("$ sframe-check x\n..."), false),
        (session("$ sframe-check x\n? 2\n..."), false),
        (session("$ sframe-check x\n...\nx"), true),
        (session("$ sframe-check x\n\u{1b}[1m"), false),
        (session("$ echo x\nx"), false),
        (String::from("# T\n"), false),
    ] {
        assert_eq!(fault(&text, &parts(&text)).is_none(), is_valid, "{text}");
    }
}
