//! Scans with a store: shards, resuming, nightly scans, and printing a stored scan.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

#[cfg(feature = "s3")]
mod bucket;
mod crash;
mod extremes;
mod interrupt;
mod kill;
mod nights;
mod output;
mod refused;
mod shards;
mod show;

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;
use sframe_corpus::corpus;
use sframe_corpus::program::command;

/// An empty folder for a test.
fn folder(name: &str) -> PathBuf {
    sframe_corpus::folder!(format!("stored/{name}"))
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().expect("the program runs")
}

/// Runs the program, and returns its exit status, standard output and standard error.
fn outcome(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let outcome = sframe_corpus::program::run(folder, arguments);
    (outcome.status, outcome.text, outcome.stderr)
}

/// Copies golden files of all versions to a folder, and adds a text file.
fn golden_tree(folder: &Path) {
    let golden = corpus().join("golden");
    for version in ["2.40", "2.44", "2.47.50"] {
        for name in ["handwritten.so", "static.exe", "calls.o", "README"] {
            let from = golden.join(version).join("x86_64").join(name);
            if from.exists() {
                let to = folder.join(version);
                fs::create_dir_all(&to).expect("a folder");
                fs::copy(&from, to.join(name)).expect("a copy");
            }
        }
    }
    fs::write(folder.join("notes.txt"), "no ELF file").expect("a file");
}

/// The records in a store's shards by path, inside and member, read without the store's own code.
fn records(store: &Path) -> BTreeMap<String, Value> {
    let mut records = BTreeMap::new();
    for shard in fs::read_dir(store.join("shards")).expect("shards") {
        let path = shard.expect("an entry").path();
        let mut text = String::new();
        let file = fs::File::open(&path).expect("a shard");
        zstd::Decoder::new(file).expect("zstd").read_to_string(&mut text).expect("text");
        for line in text.lines() {
            let line: Value = serde_json::from_str(line).expect("JSON");
            if line["type"] == "file" {
                let name = format!("{} {} {}", line["path"], line["inside"], line["member"]);
                assert!(records.insert(name, line).is_none(), "a record occurs twice");
            }
        }
    }
    records
}

/// The records of `sframe-check --format ndjson`, which uses no store.
fn plain_records(folder: &Path, path: &str) -> BTreeMap<String, Value> {
    let output = run(folder, &["--known", "deny", "--format", "ndjson", "--coverage", path]);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let files = lines.filter(|line| line["type"] == "file" && line["status"] != "not-elf");
    files
        .map(|line| (format!("{} {} {}", line["path"], line["inside"], line["member"]), line))
        .collect()
}
