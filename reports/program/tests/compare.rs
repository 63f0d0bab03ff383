//! Coverage of the golden files, compared with other tools: the code sections that readelf lists, and the warnings of
//! assemblers about functions for which they wrote no SFrame data.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::collections::BTreeMap;
use std::fs;

use serde_json::Value;
use sframe_corpus::program::run;
use sframe_corpus::{corpus, folder, tools};

fn json(arguments: &[&str]) -> Value {
    let text = run(&corpus(), &[&["--format", "json"], arguments].concat()).text;
    serde_json::from_str(&text).expect("JSON")
}

/// The sections that `readelf -SW` lists as loaded and executable: each of their bytes has exactly one verdict.
#[test]
fn coverage_accounts_for_every_byte_of_code() {
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

/// Parts of the assembler's warnings about skipped functions, with the cause that we report.
const MESSAGES: [(&str, &str); 5] = [
    ("non-SP/FP register", "cfa-register"),
    ("FP without RA on stack", "fp-without-ra"),
    ("in .cfi_register", "register-save"),
    (".cfi_escape with op (0xf)", "cfa-expression"),
    // 2.44 does not name the escape; in the corpus it is always DW_CFA_def_cfa_expression.
    ("CFI insn CFI_escape", "cfa-expression"),
];

/// The number of functions that an assembler reported as skipped, by cause.
fn skipped(messages: &str) -> BTreeMap<&'static str, u64> {
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

/// GNU as warns about each function that it skips, with a reason. We report the same reasons.
#[test]
fn causes_match_the_assemblers_warnings() {
    let manifest = fs::read_to_string(corpus().join("golden/MANIFEST.tsv")).expect("readable");
    let mut warnings = 0;
    for line in manifest.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let (path, messages) = (columns[0], columns[14]);
        let gnu = path.starts_with("2.44/") || path.starts_with("2.47.50/");
        if !(gnu && path.ends_with(".o") && messages.contains("SFrame FDE")) {
            continue;
        }
        let mut wanted = skipped(messages);
        // 2.47.50 also warns about the signal frame, but does write an entry, without rows. We report
        // a difference there, not a loss (`corpus/differences/signal-outermost`).
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
            // The assembler does not warn about `.cfi_startproc simple` without rules.
            .filter(|(cause, _)| *cause != "no-initial-rules")
            .collect();
        assert_eq!(ours, wanted, "{path}: {messages}");
        warnings += wanted.values().sum::<u64>();
    }
    assert!(warnings > 20, "{warnings}");
}

/// A stripped program without `.eh_frame`: its CFI is in `.debug_frame` of its debug file.
#[test]
fn a_separate_debug_file_is_used_and_named() {
    let folder = folder!("debug-dir");
    fs::create_dir_all(folder.join("debug/.build-id/ab")).expect("the folder can be made");
    fs::write(folder.join("program.c"), "int _start(void) { return 7; }\n").expect("writable");
    let commands = [
        "gcc -g -O1 -fno-asynchronous-unwind-tables -nostdlib -static -Wl,--build-id=0xabcdef -o program program.c",
        "objcopy --only-keep-debug program debug/.build-id/ab/cdef.debug",
        "objcopy --strip-debug program stripped",
    ];
    if !commands.iter().all(|command| tools::run(&folder, "objcopy", command)) {
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
    // A file with the right name that is not the debug file.
    fs::copy(folder.join("debug/.build-id/ab/cdef.debug"), folder.join("right")).expect("copied");
    fs::copy(folder.join("program.c"), folder.join("debug/.build-id/ab/cdef.debug"))
        .expect("copied");
    let outcome = run(&corpus(), &["--coverage", "--debug-dir", &path("debug"), &path("stripped")]);
    let (status, text) = (outcome.status, outcome.text);
    assert_eq!(status, 2);
    assert!(text.contains("cdef.debug is not its debug file: it is not an ELF file"), "{text}");
}

/// Tables of a kernel that is not known yet say nothing, which is not the same as nothing wrong.
#[test]
fn tables_of_unknown_kernels_are_undecided() {
    let mut module = sframe_corpus::read("orc/module.o");
    // The hash of Linux 6.12 in `.orc_header`.
    let hash = module.windows(4).position(|bytes| bytes == [0xfe, 0x5d, 0x32, 0xbf]);
    module[hash.expect("a header")] ^= 1;
    let folder = folder!("unknown-kernel");
    fs::write(folder.join("module.o"), module).expect("writable");
    let ran = run(&folder, &["--against", "orc", "module.o"]);
    let reason = "the layout of .orc_unwind is not known: newer than Linux 7.3, or damaged";
    assert!(ran.text.contains(reason), "{}", ran.text);
    assert_eq!(ran.status, 2, "{}", ran.text);
}
