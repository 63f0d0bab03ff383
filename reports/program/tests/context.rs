//! The bytes that a finding quotes, for every bare section of the malformed corpus: they are the bytes in the file, and
//! include the byte at the finding's offset.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;

#[test]
fn the_context_of_a_finding_includes_its_offset() {
    let mut findings = 0;
    let files = sframe_corpus::files(&sframe_corpus::corpus().join("malformed"));
    let sections = files.iter().filter(|path| path.extension().is_some_and(|of| of == "sframe"));
    for path in sections {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sframe-check"));
        command.args(["--raw", "--pedantic", "--format", "json"]).arg(path).stdin(Stdio::null());
        let report = command.output().expect("the program runs").stdout;
        let report: Value = serde_json::from_slice(&report).expect("JSON");
        let data = fs::read(path).expect("readable");
        for finding in report["files"][0]["findings"].as_array().expect("findings") {
            let parts = finding["context"].as_array().map_or(&[][..], Vec::as_slice);
            let Some(offset) = finding["offset"].as_u64().filter(|_| !parts.is_empty()) else {
                continue;
            };
            let mut is_shown = false;
            for part in parts {
                let start = part["offset"].as_u64().expect("an offset");
                let shown = part["bytes"].as_str().expect("bytes");
                let end = start + shown.len() as u64 / 2;
                let range = usize::try_from(start).unwrap()..usize::try_from(end).unwrap();
                let stored: String = data[range].iter().map(|byte| format!("{byte:02x}")).collect();
                assert_eq!(shown, stored, "{}: {finding}", path.display());
                let has_offset = (start..end).contains(&offset);
                let is_blamed = part["blamed"].as_bool().unwrap_or(false);
                assert_eq!(is_blamed, has_offset, "{}: {finding}", path.display());
                is_shown |= is_blamed;
            }
            assert!(is_shown, "{}: {finding}", path.display());
            findings += 1;
        }
    }
    assert!(findings > 50, "only {findings} findings have context");
}
