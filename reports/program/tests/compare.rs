//! SFrame against CFI as the program's users meet it: differences with both tables, coverage with
//! causes. The truth is other tools': what objdump and readelf print of the golden files, what the
//! assemblers said when they left a function out.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus")
}

/// Runs in the corpus; the status and what was printed.
fn run(arguments: &[&str]) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_sframe-check"))
        .current_dir(corpus())
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .expect("the program runs");
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    (output.status.code().expect("not killed"), text)
}

fn json(arguments: &[&str]) -> Value {
    let (_, text) = run(&[&["--format", "json"], arguments].concat());
    serde_json::from_str(&text).expect("JSON")
}

fn strings(value: &Value) -> Vec<&str> {
    value.as_array().expect("a list").iter().map(|item| item.as_str().expect("text")).collect()
}

/// A linker's stubs: `corpus/NOTES.md` has what objdump and readelf print of them.
const PLT_GOT: &str = "golden/2.47.50/x86_64/shared.so";

#[test]
fn a_difference_shows_both_tables_and_the_code() {
    let (status, text) = run(&[PLT_GOT]);
    assert_eq!(status, 1);
    assert!(text.contains("error[cfa-mismatch]"), "{text}");
    // readelf -SW: .plt.got is at 0x860, 8 bytes; objdump -d: jmp *0x...(%rip), 6 bytes, and a nop.
    let line = |mark: char, cfa: &str| {
        text.lines().find(|line| {
            let line = line.trim_start();
            line.starts_with(mark) && line.contains("0x860") && line.contains(cfa)
        })
    };
    assert!(line('-', "rsp+16").is_some(), "{text}");
    assert!(line('+', "rsp+8").is_some(), "{text}");
    assert!(line('-', "rsp+16").is_some_and(|line| line.contains("jmp")), "{text}");
}

#[test]
fn json_has_the_difference() {
    let document = json(&[PLT_GOT]);
    let file = &document["files"][0];
    let findings = file["findings"].as_array().expect("findings");
    let of_rule: Vec<&Value> =
        findings.iter().filter(|finding| finding["rule"] == "cfa-mismatch").collect();
    assert_eq!(of_rule.len(), 1);
    let (difference, code) = (&of_rule[0]["difference"], &of_rule[0]["code"]);
    let wanted = (&Value::from("0x860"), &Value::from("0x868"));
    assert_eq!((&code["start"], &code["end"]), wanted);
    assert_eq!(strings(&difference["fields"]), ["cfa"]);
    let of_side = |side: &str| {
        let table = difference["table"].as_array().expect("a table");
        table.iter().find(|line| line["side"] == side).map(|line| line["cfa"].clone())
    };
    assert_eq!(of_side("sframe"), Some(Value::from("rsp+16")));
    assert_eq!(of_side("cfi"), Some(Value::from("rsp+8")));
    let instructions = difference["instructions"].as_array().expect("instructions");
    assert!(!instructions.is_empty());
    assert_eq!(file["coverage"]["bytes"]["different"], 8);
}

#[test]
fn one_may_compare_with_nothing() {
    let (status, text) = run(&["--against", "none", PLT_GOT]);
    assert_eq!(status, 0);
    assert!(!text.contains("mismatch") && !text.contains("compared"), "{text}");
    assert_eq!(json(&["--against", "none", PLT_GOT])["files"][0]["coverage"], Value::Null);
    let (status, text) = run(&["--ignore", "cfa-mismatch", PLT_GOT]);
    assert_eq!(status, 0);
    assert!(!text.contains("mismatch"), "{text}");
}

/// A file without CFI cannot be compared: that is no finding, unless it was asked for.
#[test]
fn what_is_asked_for_and_cannot_be_done_is_undecided() {
    let without = "malformed/no-functions/no-functions.elf";
    assert_eq!(run(&[without]).0, 0);
    let (status, text) = run(&["--against", "cfi", without]);
    assert_eq!(status, 2);
    assert!(text.contains("undecided: not compared with CFI: the file has none"), "{text}");
}

/// CFI of which no function can be read: both CIEs (`readelf --debug-dump=frames`) have a version
/// that DWARF does not define.
#[test]
fn cfi_that_cannot_be_read_is_not_passed_over() {
    let mut data = fs::read(corpus().join("golden/2.47.50/x86_64/static.exe")).expect("readable");
    for augmentation in [&b"\x01zR\0"[..], b"\x01zPLR\0"] {
        let cie = data.windows(augmentation.len()).position(|bytes| bytes == augmentation);
        data[cie.expect("a CIE")] = 9;
    }
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no-cie.exe");
    fs::write(&path, data).expect("writable");
    let (_, text) = run(&[path.to_str().expect("UTF-8")]);
    assert!(text.contains("2 warning cfi-cie-version in 1 file"), "{text}");
}

#[test]
fn coverage_needs_an_oracle() {
    assert_eq!(run(&["--coverage", "--against", "none", PLT_GOT]).0, 3);
}

/// Where the header does not say for certain what is stored, no byte of code is decided.
#[test]
fn what_is_not_known_for_certain_is_not_compared() {
    let document = json(&["golden/lld/x86_64/v3-shared.so"]);
    let file = &document["files"][0];
    let bytes = &file["coverage"]["bytes"];
    assert_eq!(bytes["undecided"], file["code_bytes"]);
    assert_eq!((&bytes["equal"], &bytes["only_cfi"]), (&Value::from(0), &Value::from(0)));
}

/// Loaded, executable sections by `readelf -SW`: every byte has one verdict.
#[test]
fn bytes_of_coverage_add_up_to_the_code() {
    let document = json(&["--coverage", "golden"]);
    let mut files = 0;
    for file in document["files"].as_array().expect("files") {
        let Some(coverage) = file["coverage"].as_object() else { continue };
        let bytes = coverage["bytes"].as_object().expect("bytes").values();
        let sum: u64 = bytes.map(|number| number.as_u64().expect("a number")).sum();
        assert_eq!(file["code_bytes"], sum, "{}", file["path"]);
        files += 1;
    }
    assert!(files > 400, "{files}");
}

/// Why the assembler says that it leaves a function out, by the cause that this is.
const MESSAGES: [(&str, &str); 5] = [
    ("non-SP/FP register", "cfa-register"),
    ("FP without RA on stack", "fp-without-ra"),
    ("in .cfi_register", "register-save"),
    (".cfi_escape with op (0xf)", "cfa-expression"),
    // 2.44 does not say which escape; all of the corpus's are DW_CFA_def_cfa_expression.
    ("CFI insn CFI_escape", "cfa-expression"),
];

/// The functions that an assembler has said to leave out, by cause.
fn left_out(messages: &str) -> BTreeMap<&'static str, u64> {
    let mut causes = BTreeMap::new();
    for message in messages.split(';').filter(|part| !part.contains("Warning")) {
        for (text, cause) in MESSAGES {
            if message.contains(text) {
                *causes.entry(cause).or_default() += 1;
            }
        }
    }
    causes
}

/// GNU as names a reason for each function that it leaves out. Ours are the same.
#[test]
fn causes_are_the_assemblers_reasons() {
    let manifest = fs::read_to_string(corpus().join("golden/MANIFEST.tsv")).expect("readable");
    let mut said = 0;
    for line in manifest.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let (path, messages) = (columns[0], columns[14]);
        let gnu = path.starts_with("2.44/") || path.starts_with("2.47.50/");
        if !(gnu && path.ends_with(".o") && messages.contains("SFrame FDE")) {
            continue;
        }
        let mut wanted = left_out(messages);
        // 2.47.50 says so of the signal frame as well, and writes an entry without rows all the same:
        // no loss, but a difference (`corpus/differences/signal-outermost`).
        if path.starts_with("2.47.50/") && path.ends_with("/signal.o") {
            assert_eq!(wanted.remove("cfa-expression"), Some(1), "{path}");
        }
        let document = json(&["--coverage", &format!("golden/{path}")]);
        let losses = document["files"][0]["coverage"]["losses"].as_array().expect("losses");
        let ours: BTreeMap<&str, u64> = losses
            .iter()
            .map(|loss| {
                let functions = loss["functions"].as_u64().expect("a number");
                (loss["cause"].as_str().expect("text"), functions)
            })
            // `.cfi_startproc simple` without rules: it says nothing about that.
            .filter(|(cause, _)| *cause != "no-initial-rules")
            .collect();
        assert_eq!(ours, wanted, "{path}: {messages}");
        said += wanted.values().sum::<u64>();
    }
    assert!(said > 20, "{said}");
}

/// Runs a tool in `folder`; `false` where it is missing, which is said.
fn tool(folder: &Path, command: &str) -> bool {
    let words: Vec<&str> = command.split(' ').collect();
    match Command::new(words[0]).args(&words[1..]).current_dir(folder).status() {
        Ok(status) => {
            assert!(status.success(), "{command}");
            true
        }
        Err(error) => {
            assert!(std::env::var_os("SFRAME_REQUIRE_TOOLS").is_none(), "{command}: {error}");
            println!("skipped: {command}: {error}");
            false
        }
    }
}

/// A stripped program without `.eh_frame`: its CFI is in `.debug_frame` of its debug file.
#[test]
fn a_separate_debug_file_is_used_and_named() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("debug-dir");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(folder.join("debug/.build-id/ab")).expect("the folder can be made");
    fs::write(folder.join("program.c"), "int _start(void) { return 7; }\n").expect("writable");
    let commands = [
        "gcc -g -O1 -fno-asynchronous-unwind-tables -nostdlib -static -Wl,--build-id=0xabcdef -o program program.c",
        "objcopy --only-keep-debug program debug/.build-id/ab/cdef.debug",
        "objcopy --strip-debug program stripped",
    ];
    if !commands.iter().all(|command| tool(&folder, command)) {
        return;
    }
    let path = |name: &str| folder.join(name).to_str().expect("UTF-8").to_owned();
    let coverage = |arguments: &[&str]| {
        let stripped = path("stripped");
        json(&[&["--coverage"], arguments, &[&stripped]].concat())["files"][0]["coverage"].clone()
    };
    let alone = coverage(&[]);
    assert_eq!(
        (&alone["functions"]["only_cfi"], &alone["debug_file"]),
        (&Value::from(0), &Value::Null)
    );
    let debug = coverage(&["--debug-dir", &path("debug")]);
    assert_eq!(debug["functions"]["only_cfi"], 1);
    assert_eq!(debug["debug_file"], path("debug/.build-id/ab/cdef.debug"));
    // A file of that name that belongs to another build.
    fs::copy(folder.join("debug/.build-id/ab/cdef.debug"), folder.join("right")).expect("copied");
    fs::copy(folder.join("program.c"), folder.join("debug/.build-id/ab/cdef.debug"))
        .expect("copied");
    let (status, text) = run(&["--coverage", "--debug-dir", &path("debug"), &path("stripped")]);
    assert_eq!(status, 2);
    assert!(text.contains("cdef.debug is not its debug file: it is no ELF file"), "{text}");
}

/// One mistake in many functions is one finding: with another initial CFA in the CIE, the rows at
/// the start of its functions differ by the same 8 bytes. By `readelf --debug-dump=frames` they are
/// 26, one of which (a cold part, at 0x401010) starts with a CFA offset of its own.
#[test]
fn the_same_pattern_elsewhere_is_counted() {
    let mut data = fs::read(corpus().join("golden/2.47.50/x86_64/static.exe")).expect("readable");
    // DW_CFA_def_cfa: rsp + 8; DW_CFA_offset: RA at CFA - 8.
    let initial = [0x0c, 7, 8, 0x90, 1];
    let found = data.windows(initial.len()).position(|bytes| bytes == initial).expect("the CIE");
    data[found + 2] = 16;
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("other-cie.exe");
    fs::write(&path, data).expect("writable");
    let path = path.to_str().expect("UTF-8");

    let (status, text) = run(&[path]);
    assert_eq!(status, 1);
    assert_eq!(text.matches("error[cfa-mismatch]: CFA is rsp+8, CFI says rsp+16").count(), 1);
    assert!(text.contains("and at 24 more functions ("), "{text}");
    assert!(text.contains("25 error   cfa-mismatch in 1 file"), "{text}");
    let document = json(&[path]);
    assert_eq!(document["files"][0]["findings"][0]["difference"]["similar"]["functions"], 24);
    let (_, each) = run(&["--all", path]);
    assert_eq!(each.matches("error[cfa-mismatch]").count(), 25);
}
