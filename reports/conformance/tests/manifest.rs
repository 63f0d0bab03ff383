//! `corpus/malformed/manifest.json` says for each malformed file where its section is and what readers have to do, so that
//! others can use the files without this program. With `SFRAME_BLESS=1`, the test writes it.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use sframe_conformance::{Address, Answer, Command, Reader, Section};
use sframe_corpus::{corpus, files, tools};
use sframe_harness::torture::{Duty, all};
use sframe_validator::Abi;
use sframe_validator::elf::Elf;
use sframe_validator::rules::Rule;

fn folder() -> PathBuf {
    corpus().join("malformed")
}

fn machine(abi: Abi) -> &'static str {
    match abi {
        Abi::Amd64 => "amd64",
        Abi::Aarch64Little => "aarch64",
        Abi::Aarch64Big => "aarch64_be",
        Abi::S390x => "s390x",
    }
}

/// A section: where its bytes are in the file, and its address. A section without bytes in the file has size 0.
fn section(file: &[u8], offset: usize, size: usize, address: u64, abi: Option<Abi>) -> Value {
    let bytes = file.get(offset..offset + size).unwrap_or_default();
    let stored = bytes.get(4).copied().and_then(Abi::from_id);
    json!({
        "offset": offset,
        "size": bytes.len(),
        "address": Address(address).to_string(),
        "machine": abi.or(stored).map(machine),
    })
}

/// The SFrame sections of a file. In an archive, there is none that a reader of sections could be given.
fn sections(file: &[u8]) -> Vec<Value> {
    if file.starts_with(b"!<arch>") {
        return Vec::new();
    }
    let Ok(elf) = Elf::parse(file) else { return vec![section(file, 0, file.len(), 0, None)] };
    let place = |value: u64| usize::try_from(value).expect("a small file");
    let found = elf.sframe_contents().map(|sframe| {
        let size = sframe.data.map_or(0, <[u8]>::len);
        section(file, place(sframe.header.offset), size, sframe.header.address, elf.abi())
    });
    found.collect()
}

/// What readers have to do, by rule.
fn duties() -> BTreeMap<&'static str, &'static str> {
    let duty = |duty| match duty {
        Duty::Refuse => "must-refuse",
        Duty::Read | Duty::Survive => "may-accept",
    };
    all().iter().filter_map(|case| Some((case.rule?.name, duty(case.duty)))).collect()
}

fn entry(path: &Path, duties: &BTreeMap<&str, &str>) -> Value {
    let file = fs::read(path).expect("readable");
    let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
    let rule = Rule::find(&name).unwrap_or_else(|| panic!("{name} is not a rule"));
    json!({
        "file": path.strip_prefix(folder()).expect("below it"),
        "rule": rule.name,
        "severity": rule.severity.to_string(),
        "duty": duties[rule.name],
        "relocatable": Elf::parse(&file).is_ok_and(|elf| elf.kind() == sframe_validator::elf::ElfKind::Relocatable),
        "sections": sections(&file),
    })
}

/// The malformed files, without their findings as text.
fn malformed() -> Vec<PathBuf> {
    let is_file = |path: &PathBuf| {
        path.parent() != Some(&folder()) && path.extension().is_some_and(|found| found != "txt")
    };
    files(&folder()).into_iter().filter(is_file).collect()
}

#[test]
fn the_manifest_lists_every_malformed_file() {
    let duties = duties();
    let entries: Vec<String> =
        malformed().iter().map(|path| format!("  {}", entry(path, &duties))).collect();
    assert!(entries.len() > 140, "{} files", entries.len());
    let expected = format!("{{\n \"schema\": 1,\n \"files\": [\n{}\n ]\n}}\n", entries.join(",\n"));
    let path = folder().join("manifest.json");
    if std::env::var_os("SFRAME_BLESS").is_some() {
        fs::write(&path, &expected).expect("writable");
    }
    let stored = fs::read_to_string(&path).unwrap_or_default();
    assert!(stored == expected, "manifest.json is out of date: SFRAME_BLESS=1 writes it");
}

/// The reader in Python knows nothing of our rules. Given only what the manifest says, it refuses what must be refused:
/// the whole section, or the row at every address of code that the files use.
#[test]
fn another_reader_refuses_what_must_be_refused() {
    if !tools::is_installed("python3") {
        return;
    }
    let text = fs::read_to_string(folder().join("manifest.json")).expect("the manifest");
    let manifest: Value = serde_json::from_str(&text).expect("JSON");
    let reader = corpus().join("conformance/runners/reader.py").display().to_string();
    let mut reader = Command::new(vec!["python3".to_owned(), reader], Duration::from_secs(20));
    let mut refused = 0;
    for entry in manifest["files"].as_array().expect("a list") {
        if entry["duty"] != "must-refuse" {
            continue;
        }
        let file = fs::read(folder().join(entry["file"].as_str().expect("a name"))).expect("it");
        for part in entry["sections"].as_array().expect("a list") {
            let place = |name: &str| {
                usize::try_from(part[name].as_u64().expect("a number")).expect("small")
            };
            let bytes = &file[place("offset")..place("offset") + place("size")];
            let section = Section {
                machine: part["machine"].as_str().unwrap_or("amd64").to_owned(),
                byte_order: "little".to_owned(),
                address: part["address"].as_str().expect("text").parse().expect("an address"),
                hex: bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
            };
            let opened = reader.open(&section);
            assert!(matches!(opened, Answer::Refused(_)), "{}: {opened:?}", entry["file"]);
            refused += 1;
        }
    }
    assert!(refused >= 13, "{refused} sections");
}
