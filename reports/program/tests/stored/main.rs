//! Scans whose results last, as their users meet them: stores, shards, nights.

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

/// An empty folder of this test's own.
fn folder(name: &str) -> PathBuf {
    sframe_corpus::folder!(format!("stored/{name}"))
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().expect("the program runs")
}

/// Its status, and what it wrote to both streams.
fn told(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let outcome = sframe_corpus::program::run(folder, arguments);
    (outcome.status, outcome.text, outcome.complaints)
}

/// Golden files of all versions and machines, linked ones and objects.
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

/// The lines of a store's shards: records by path, inside and member, as the plain tools read them.
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
                assert!(records.insert(name, line).is_none(), "a record that is there twice");
            }
        }
    }
    records
}

/// The same by `sframe-check --format ndjson`, which knows of no store.
fn plain_records(folder: &Path, path: &str) -> BTreeMap<String, Value> {
    let output = run(folder, &["--format", "ndjson", "--coverage", path]);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    let files = lines.filter(|line| line["type"] == "file" && line["status"] != "not-elf");
    files
        .map(|line| (format!("{} {} {}", line["path"], line["inside"], line["member"]), line))
        .collect()
}
