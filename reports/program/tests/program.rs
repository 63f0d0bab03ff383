//! The program as its users meet it: paths in, text and exit status out.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use sframe_validator::rules::{CATALOGUE, Severity};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus")
}

/// A sound file, one with an error, and one with a warning and no error.
const SOUND: &str = "golden/2.47.50/x86_64/static.exe";
const ERROR: &str = "malformed/function-overlap/function-overlap.sframe";
const WARNING: &str = "golden/2.47.50/x86_64/edges.so";

fn program(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_sframe-check"))
        .current_dir(folder)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .expect("the program runs")
}

/// Runs in the corpus; the status and what was printed.
fn run(arguments: &[&str]) -> (i32, String) {
    told(&program(&corpus(), arguments))
}

fn told(output: &Output) -> (i32, String) {
    let text = String::from_utf8(output.stdout.clone()).expect("UTF-8");
    (output.status.code().expect("not killed"), text)
}

/// An empty folder of this test's own.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the folder can be made");
    folder
}

fn copy(from: &str, to: &Path) {
    fs::copy(corpus().join(from), to).expect("the file can be copied");
}

fn with_input(arguments: &[&str], input: &[u8]) -> (i32, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_sframe-check"))
        .current_dir(corpus())
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the program runs");
    child.stdin.take().expect("piped").write_all(input).expect("it reads");
    told(&child.wait_with_output().expect("it ends"))
}

#[test]
fn the_exit_status_follows_the_worst_finding_and_the_level() {
    assert_eq!(run(&[SOUND]).0, 0);
    assert_eq!(run(&["--raw", ERROR]).0, 1);
    assert_eq!(run(&[WARNING]).0, 0);
    assert_eq!(run(&["--fail-on", "warning", WARNING]).0, 1);
    assert_eq!(run(&["--raw", "--fail-on", "never", ERROR]).0, 0);
    assert_eq!(run(&["no/such/file"]).0, 2);
    assert_eq!(run(&["--no-such-option"]).0, 3);
    assert_eq!(run(&[]).0, 3);
}

#[test]
fn undecided_is_not_clean() {
    // The section's bytes are in another file.
    let (status, text) = run(&["golden/2.47.50/x86_64/debug-only.so"]);
    assert_eq!(status, 2, "{text}");
    assert!(text.contains("undecided: .sframe:"), "{text}");
}

#[test]
fn each_malformed_file_is_reported_under_its_name() {
    for rule in CATALOGUE {
        let name = ["sframe", "elf", "a"]
            .map(|extension| format!("malformed/{0}/{0}.{extension}", rule.name))
            .into_iter()
            .find(|name| corpus().join(name).exists())
            .expect("each rule has a file");
        let mut arguments = vec!["--pedantic", "--fail-on", "lint"];
        if name.ends_with(".sframe") {
            arguments.push("--raw");
        }
        arguments.push(&name);
        let (status, text) = run(&arguments);
        let title = format!("{}[{}]", rule.severity, rule.name);
        assert!(status == 1 && text.contains(&title), "{name}: {status} {text}");
        if rule.severity == Severity::Error {
            arguments.retain(|a| !["--fail-on", "lint", "--pedantic"].contains(a));
            assert_eq!(run(&arguments).0, 1, "{name}");
        }
    }
}

#[test]
fn results_are_in_input_order_on_any_number_of_threads() {
    let one = run(&["--threads", "1", "--format", "ndjson", "golden"]);
    let four = run(&["--threads", "4", "--format", "ndjson", "golden"]);
    assert!(one == four);
    let (first, second) =
        ("malformed/fre-type/fre-type.sframe", "malformed/bad-magic/bad-magic.sframe");
    let (_, text) = run(&["--raw", first, second]);
    assert!(text.find("error[fre-type]") < text.find("error[bad-magic]"), "{text}");
}

#[test]
fn folders_patterns_and_lists_find_the_same_files() {
    let summary = |text: &str| text.split_once("inputs").expect("a summary").0.to_owned();
    let count = |text: &str| {
        let summary = summary(text);
        summary.rsplit('\n').next().expect("a line").trim().replace(',', "")
    };
    let whole = "golden/2.47.50/s390x";
    let objects = count(&run(&[&format!("{whole}/**/*.o")]).1);
    let files = fs::read_dir(corpus().join(whole)).expect("readable");
    let names: Vec<String> = files
        .map(|entry| format!("{whole}/{}", entry.expect("readable").file_name().display()))
        .filter(|name| name.ends_with(".o"))
        .collect();
    assert_eq!(objects, names.len().to_string());
    let lines = with_input(&["-"], (names.join("\n") + "\n").as_bytes());
    let zeros = with_input(&["-"], names.join("\0").as_bytes());
    assert_eq!(count(&lines.1), objects);
    assert_eq!(count(&zeros.1), objects);
}

#[test]
fn members_of_archives_are_named() {
    let (status, text) = run(&["-v", "--fail-on", "never", "golden/2.47.50/x86_64/archive.a"]);
    assert_eq!(status, 0, "{text}");
    for member in ["leaf.o", "calls.o", "bare.o", "cfi.o"] {
        assert!(text.contains(&format!("archive.a({member})")), "{text}");
    }
    let (status, text) = run(&["malformed/mixed-inputs/mixed-inputs.a"]);
    assert!(status == 1 && text.contains("a.o and b.o have different versions"), "{text}");
}

#[test]
fn what_is_no_file_to_check_is_counted() {
    let folder = folder("special");
    fs::write(folder.join("empty"), []).expect("writable");
    fs::write(folder.join("text"), "no ELF").expect("writable");
    fs::create_dir(folder.join("sub")).expect("writable");
    symlink("..", folder.join("sub/loop")).expect("writable");
    symlink("nowhere", folder.join("dangling")).expect("writable");
    copy(SOUND, &folder.join("sub/sound.so"));
    symlink("sub/sound.so", folder.join("link.so")).expect("writable");
    let made = Command::new("mkfifo").arg(folder.join("pipe")).status().expect("mkfifo runs");
    assert!(made.success());
    let (status, text) = told(&program(&folder, &["."]));
    assert_eq!(status, 0, "{text}");
    // The library is checked once, whichever of its names comes first.
    assert!(text.contains("1 file checked, 1 with an SFrame section"), "{text}");
    assert!(text.contains("2 not ELF"), "{text}");
    for kind in ["symbolic link", "pipe"] {
        assert!(text.contains(kind), "no {kind} in {text}");
    }
    let (_, text) = told(&program(&folder, &["-v", "."]));
    assert!(text.contains("empty: not checked") && text.contains("pipe: not checked"), "{text}");
}

/// Two links out of the folder that lead to one file: where they are followed, it is checked once.
#[test]
fn links_out_of_a_folder_are_followed_on_request() {
    let folder = folder("links");
    copy(SOUND, &folder.join("sound.so"));
    fs::create_dir(folder.join("in")).expect("writable");
    for name in ["a", "b"] {
        symlink("../sound.so", folder.join("in").join(name)).expect("writable");
    }
    let (status, text) = told(&program(&folder, &["--follow-links", "in"]));
    assert_eq!(status, 0, "{text}");
    assert!(
        text.contains("2 inputs: 1 file checked") && text.contains("1 symbolic link"),
        "{text}"
    );
    let (_, text) = told(&program(&folder, &["-v", "in"]));
    assert!(
        text.contains("not checked: 2 symbolic links out of the folder (--follow-links)"),
        "{text}"
    );
    assert!(text.contains("in/a: not checked, symbolic link out of the folder"), "{text}");
    // What is named is followed, and so is what leads into a folder that is named.
    let (status, text) = told(&program(&folder, &["in/a"]));
    assert!(status == 0 && text.contains("1 file checked"), "{text}");
    symlink("../other", folder.join("in/c")).expect("writable");
    fs::create_dir(folder.join("other")).expect("writable");
    copy(SOUND, &folder.join("other/sound.so"));
    let (status, text) = told(&program(&folder, &["in", "other"]));
    assert!(status == 0 && text.contains("in/c") | text.contains("2 files checked"), "{text}");
}

#[test]
fn a_device_is_no_file() {
    let (status, text) = run(&["/dev/null"]);
    assert_eq!(status, 2, "{text}");
    assert!(text.contains("1 device"), "{text}");
}

#[test]
fn damaged_files_cost_only_themselves() {
    let folder = folder("damaged");
    let sound = fs::read(corpus().join(SOUND)).expect("readable");
    copy(SOUND, &folder.join("a.so"));
    fs::write(folder.join("b.so"), &sound[..100]).expect("writable");
    fs::write(folder.join("c.so"), &sound[..sound.len() / 2]).expect("writable");
    copy(SOUND, &folder.join("d.so"));
    let (status, text) = told(&program(&folder, &["-v", "."]));
    assert_eq!(status, 2, "{text}");
    let lines = |text: &str, what: &str| text.lines().filter(|line| line.contains(what)).count();
    assert_eq!(lines(&text, "cannot be read"), 2, "{text}");
    assert!(text.contains("2 files checked, 2 with an SFrame section"), "{text}");
    for length in (0..sound.len()).step_by(97) {
        fs::write(folder.join("c.so"), &sound[..length]).expect("writable");
        let output = program(&folder, &["c.so"]);
        assert!(matches!(output.status.code(), Some(0..=2)), "{length}: {output:?}");
    }
}

#[test]
fn rules_can_be_chosen() {
    let (status, text) = run(&["--raw", "--ignore", "function-overlap", ERROR]);
    assert!(status == 0 && !text.contains("function-overlap"), "{text}");
    let (status, text) = run(&["--raw", "--only", "fre-type", ERROR]);
    assert!(status == 0 && !text.contains("function-overlap"), "{text}");
    let output = program(&corpus(), &["--only", "function-overlpa", SOUND]);
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(3));
    assert!(complaint.contains("function-overlap"), "{complaint}");
}

#[test]
fn a_finding_shows_place_field_and_bytes() {
    let (_, text) = run(&["--raw", ERROR]);
    // By hand from the layout: the second entry at 28 + 16, its start at 0x1008 - 44.
    let expected = "\
malformed/function-overlap/function-overlap.sframe
  error[function-overlap]: function #1 at 0x1008 starts inside function #0, 0x1000..0x1010
    at .sframe+0x2c (file offset 0x2c), function 1 at 0x1008 (16 bytes)
    sfdi_func_start_offset is 0x1008, allowed: at least 0x1010
      > 0x2c | dc 0f 00 00 00 00 00 00 | sfdi_func_start_offset   4060
        0x34 | 10 00 00 00             | sfdi_func_size           16 (0x10)
        0x38 | 0c 00 00 00             | sfdi_func_start_fre_off  12 (0xc)
";
    assert!(text.starts_with(expected), "{text}");
}

#[test]
fn the_samples_in_the_documents_are_real() {
    for (document, arguments) in [
        ("README.md", "corpus/differences/register-in-place/2.47.50.o"),
        ("docs/reports.md", "--raw corpus/malformed/function-overlap/function-overlap.sframe"),
        ("docs/reports.md", "corpus/golden/2.40/x86_64/debug-only.so"),
        ("docs/comparison.md", "corpus/differences/register-in-place/2.47.50.o"),
        ("docs/comparison.md", "--coverage corpus/golden/2.44/x86_64/realign.o"),
        (
            "docs/comparison.md",
            "diff corpus/golden/2.44/x86_64/realign.o corpus/golden/2.47.50/x86_64/realign.o",
        ),
    ] {
        let written = fs::read_to_string(corpus().join("..").join(document)).expect("readable");
        assert!(
            written.contains(&format!("sframe-check {arguments}\n")),
            "{document}: {arguments}"
        );
        let words: Vec<&str> = arguments.split(' ').collect();
        let (_, text) = told(&program(&corpus().join(".."), &words));
        assert!(written.contains(text.trim_end()), "{document} lacks:\n{text}");
    }
}

#[test]
fn all_shows_each_finding() {
    let file = "golden/2.44/x86_64/relocatable.o";
    let shown = |text: &str| text.matches("error[relocation-misplaced]").count();
    let (_, few) = run(&[file]);
    let (_, all) = run(&["--all", file]);
    assert_eq!(shown(&few), 3);
    assert!(few.contains("and 8 more of relocation-misplaced"), "{few}");
    assert_eq!(shown(&all), 11);
}

#[test]
fn bare_sections_take_their_place_from_the_caller() {
    let (_, text) = run(&["dump", "--raw", "--address", "0x7f0000000000", ERROR]);
    assert!(text.contains("0x7f0000001000"), "{text}");
    let (status, _) = run(&["--raw", "--endian", "big", "malformed/fre-type/fre-type.sframe"]);
    assert_eq!(status, 1);
}

#[test]
fn explain_knows_every_rule() {
    for rule in CATALOGUE {
        let (status, text) = run(&["explain", rule.name]);
        assert_eq!(status, 0);
        assert!(text.starts_with(rule.name) && text.contains("What to do"), "{text}");
    }
    let (_, list) = run(&["explain"]);
    assert!(CATALOGUE.iter().all(|rule| list.contains(rule.name)));
}

#[test]
fn completions_and_the_manual_page_come_from_one_definition() {
    for shell in ["bash", "zsh", "fish"] {
        let (status, text) = run(&["completions", shell]);
        assert!(status == 0 && text.contains("--pedantic"), "{shell}");
    }
    let (status, page) = run(&["man"]);
    assert!(status == 0 && page.contains(".TH sframe-check") && page.contains("pedantic"));
}

#[test]
fn a_closed_pipe_needs_no_message() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let output = Command::new(env!("CARGO_BIN_EXE_sframe-check"))
        .current_dir(corpus())
        .args(["dump", "golden/2.47.50/x86_64/handwritten.so"])
        .stdout(writer)
        .output()
        .expect("the program runs");
    assert_eq!(output.status.code(), Some(141));
    assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// A folder or package of debug files that is not there is wrong usage, and no scan without them.
#[test]
fn debug_files_have_to_be_somewhere() {
    for (option, path) in [
        ("--debug-dir", "/nonexistent"),
        ("--debug-dir", "golden/2.44/x86_64/leaf.o"),
        ("--debug-packages", "/nonexistent"),
    ] {
        let output = program(&corpus(), &[option, path, "golden/2.44/x86_64/leaf.o"]);
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{complaint}");
        assert!(
            complaint.contains(path) && complaint.contains("leave the option out"),
            "{complaint}"
        );
    }
}
