//! `sframe-check torture` with scripts that misbehave in known ways as readers, with this program, and with readelf.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod files;
mod leftovers;
mod progress;
mod writes;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;
use sframe_corpus::program::command;
use sframe_corpus::tools;

/// An empty folder for a test.
fn folder(name: &str) -> PathBuf {
    sframe_corpus::folder!(name)
}

fn torture(arguments: &[&str]) -> Output {
    let arguments = [&["torture"], arguments].concat();
    let mut command = command(Path::new(env!("CARGO_TARGET_TMPDIR")), &arguments);
    command.output().expect("the program runs")
}

/// Runs `torture`, and returns its exit status and its JSON report.
fn report(arguments: &[&str]) -> (Option<i32>, Value) {
    let output = torture(&[&["--format", "json"], arguments].concat());
    let report = serde_json::from_slice(&output.stdout).expect("JSON");
    (output.status.code(), report)
}

/// The cases of the first reader, by file name.
fn cases(report: &Value) -> BTreeMap<&str, &Value> {
    let cases = report["readers"][0]["cases"].as_array().expect("cases");
    cases.iter().map(|case| (case["file"].as_str().expect("a name"), case)).collect()
}

/// A command that runs `script`, with the file as `$1`.
fn script(name: &str, script: &str) -> String {
    let path = folder(name).join("reader");
    fs::write(&path, script).expect("writable");
    format!("sh {}", path.display())
}

#[test]
fn each_kind_of_misbehaviour_is_recognised() {
    let reader = script(
        "reader-that-misbehaves",
        r#"case "$1" in
            */row-order.elf) kill -SEGV $$ ;;
            */row-past-end.elf) sleep 600 ;;
            */word-count.elf) while :; do :; done ;;
            */no-rows.elf) while :; do echo endless; done ;;
            */flex-register.elf) exec awk 'BEGIN { s = sprintf("%1000d", 1); while (1) a[i++] = s i }' ;;
            */fp-lost.elf) echo '==7==ERROR: AddressSanitizer: overflow' >&2; exit 1 ;;
            */bad-magic.elf) exit 3 ;;
            */fde-type.elf) echo 'warning: odd' >&2 ;;
            */pauth-key.elf) (sh -c 'kill -ABRT $$'); exit $? ;;
        esac"#,
    );
    let (status, report) = report(&["--timeout", "3", "--memory", "256", "--reader", &reader]);
    assert_eq!(status, Some(1));
    let cases = cases(&report);
    let of = |file: &str| {
        let case = &cases[format!("malformed/{file}.elf").as_str()];
        (case["verdict"].as_str().expect("a verdict"), case["judgement"].as_str().expect("one"))
    };
    assert_eq!(of("row-order"), ("crash", "not-conforming"));
    assert_eq!(cases["malformed/row-order.elf"]["signal"], 11);
    assert_eq!(of("row-past-end"), ("hang", "not-conforming"));
    assert_eq!(of("word-count"), ("hang", "not-conforming"));
    assert_eq!(of("no-rows"), ("hang", "not-conforming"));
    assert!(cases["malformed/no-rows.elf"]["printed_bytes"].as_u64() > Some(1 << 16));
    assert_eq!(of("flex-register"), ("memory", "not-conforming"));
    assert_eq!(of("fp-lost"), ("crash", "not-conforming"));
    assert_eq!(of("pauth-key"), ("crash", "not-conforming"));
    assert_eq!(of("bad-magic"), ("reject", "conforming"));
    assert_eq!(cases["malformed/bad-magic.elf"]["exit_status"], 3);
    assert_eq!(of("fde-type"), ("reject", "conforming"));
    assert_eq!(cases["malformed/fde-type.elf"]["message"], "warning: odd");
    assert_eq!(of("row-truncated"), ("accept", "not-conforming"));
    assert_eq!(of("row-redundant"), ("accept", "conforming"));
}

#[test]
fn files_of_others_are_not_replaced() {
    let kept = folder("kept-beside-others");
    let other = kept.join("sound/v2-amd64.elf");
    fs::create_dir(kept.join("sound")).expect("a folder");
    fs::write(&other, "somebody's").expect("writable");
    let keep = kept.to_str().expect("UTF-8");
    let output = torture(&["--reader", "true", "--keep", keep]);
    assert_eq!(output.status.code(), Some(3));
    let message = String::from_utf8(output.stderr).expect("UTF-8");
    let expected = "v2-amd64.elf: this is another file, which is not replaced: name a new folder";
    assert!(message.contains(expected), "{message}");
    assert_eq!(fs::read(&other).expect("it is there"), b"somebody's");
}

/// Otherwise, it would take the limit of time for each case.
#[test]
fn a_reader_that_never_ends_is_given_up() {
    let reader = script("reader-that-never-ends", "sleep 600");
    let (status, report) = report(&["--timeout", "1", "--reader", &reader]);
    assert_eq!(status, Some(2));
    let why = report["readers"][0]["error"].as_str().expect("a reason");
    assert_eq!(why, "it did not end in time on the first 3 sound sections, and was given up");
}

#[test]
fn a_reader_that_accepts_everything_fails_where_it_must_refuse() {
    let (status, all) = report(&["--reader", "true"]);
    assert_eq!(status, Some(1));
    for (file, case) in cases(&all) {
        assert_eq!(case["verdict"], "accept", "{file}");
        let wrong = case["duty"] == "refuse";
        assert_eq!(case["judgement"] == "not-conforming", wrong, "{file}");
    }
    assert_eq!(all["readers"][0]["reads"].as_array().map(Vec::len), Some(3 + 4 + 4 + 4));
    let (_, again) = report(&["--reader", "true", "--threads", "1"]);
    assert_eq!(without_measurements(all), without_measurements(again));
}

fn without_measurements(mut report: Value) -> Value {
    let cases = report["readers"][0]["cases"].as_array_mut().expect("cases");
    for case in cases {
        let case = case.as_object_mut().expect("an object");
        assert!(case.remove("processor_ms").is_some() && case.remove("peak_kib").is_some());
    }
    report
}

#[test]
fn refusals_count_only_for_versions_that_a_reader_can_read() {
    let (status, all) = report(&["--reader", "false"]);
    assert_eq!(status, Some(2));
    assert!(cases(&all).values().all(|case| case["judgement"] == "out-of-scope"));
    // A reader that accepts valid sections only of version 2, and only those with section-relative start addresses.
    let only = script(
        "reader-of-version-2",
        r#"case "$1" in */sound/v2-amd64.elf) ;; */v3-shared-rows.elf) ;; *) exit 1 ;; esac"#,
    );
    let (status, all) = report(&["--reader", &only]);
    assert_eq!(status, Some(0));
    let cases = cases(&all);
    assert_eq!(cases["defects/v2/row-order.elf"]["judgement"], "conforming");
    assert_eq!(cases["defects/v1/row-order.elf"]["judgement"], "out-of-scope");
    assert_eq!(cases["malformed/unknown-version.elf"]["judgement"], "conforming");
    assert_eq!(cases["bombs/v3-shared-rows.elf"]["judgement"], "conforming");
}

#[test]
fn text_has_the_failures_and_the_scoreboard() {
    let output = torture(&["--reader", "true", "--reader", "/no/such/reader"]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let has = |wanted: &str| text.lines().any(|line| line == wanted);
    assert!(
        has("  accept  malformed/row-truncated.elf: exit status 0, but it cannot be read; broken \
             rule: every row of a function ends inside the FRE sub-section"),
        "{text}"
    );
    assert!(text.contains("reader           crash   hang  memory  writes  accepted wrongly | acc"));
    assert!(
        has("/no/such/reader  cannot be run: No such file or directory (os error 2)"),
        "{text}"
    );
}

/// The program passes its own test, and reports for each case with a defect the rule that it is named after.
#[test]
fn the_program_itself_conforms() {
    let kept = folder("cases-for-itself");
    let (status, report) =
        report(&["--reader", "sframe-check", "--keep", kept.to_str().expect("UTF-8")]);
    let failures: Vec<_> = cases(&report)
        .into_values()
        .filter(|case| case["judgement"] != "conforming")
        .cloned()
        .collect();
    assert!(failures.is_empty(), "{failures:#?}");
    assert_eq!(status, Some(0));
    let page = sframe_corpus::repository().join("docs/readers.md");
    let files = format!("runs any reader of SFrame on {} files", cases(&report).len());
    assert!(std::fs::read_to_string(page).expect("text").contains(&files), "readers.md: {files}");
    for (file, case) in cases(&report).into_iter().filter(|(_, case)| case["kind"] == "defect") {
        let output = Command::new(env!("CARGO_BIN_EXE_sframe-check"))
            .args(["--format", "json"])
            .arg(kept.join(file))
            .output()
            .expect("the program runs");
        let checked: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        let counts = checked["files"][0]["counts"].as_array().expect("counts");
        assert!(counts.iter().any(|count| count["rule"] == case["rule"]), "{file}: {counts:?}");
    }
}

/// The verdicts on readelf match its exit status and output when it is run directly.
#[test]
fn verdicts_on_readelf_match_its_exit_status() {
    let toolchain = tools::toolchains().join("2.44/bin/readelf");
    let readelf =
        std::env::var("SFRAME_READELF").unwrap_or_else(|_| toolchain.display().to_string());
    if Command::new(&readelf).arg("--version").stdout(Stdio::null()).status().is_err() {
        tools::missing("readelf 2.44", "corpus/build fetch 2.44");
        return;
    }
    let kept = folder("cases-for-readelf");
    let reader = format!("{readelf} --sframe");
    let keep = kept.to_str().expect("UTF-8");
    let (status, report) = report(&["--timeout", "5", "--reader", &reader, "--keep", keep]);
    assert_eq!(status, Some(1));
    let version = report["readers"][0]["version"].as_str().expect("a version");
    assert!(version.starts_with("GNU readelf"), "{version}");
    let mut ends = BTreeMap::new();
    // If parts are outside of the section, readelf reads memory after it, so the result depends on chance.
    let by_chance = |file: &str| ["outside", "truncated"].iter().any(|word| file.contains(word));
    for (file, case) in cases(&report) {
        if case["kind"] == "bomb" || by_chance(file) {
            continue;
        }
        let output = Command::new(&readelf).arg("--sframe").arg(kept.join(file)).output();
        let output = output.expect("readelf runs");
        let verdict = match output.status.code() {
            None => "crash",
            Some(0) if output.stderr.is_empty() => "accept",
            Some(_) => "reject",
        };
        assert_eq!(case["verdict"], verdict, "{file}: {:?}", output.status.signal());
        *ends.entry(verdict).or_insert(0) += 1;
    }
    assert!(ends.len() == 3 && ends["crash"] > 1, "{ends:?}");
}
