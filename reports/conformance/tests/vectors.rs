//! The vectors follow their schema, are what the generator writes, and have a folder for each clause.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;

use sframe_conformance::{Kind, load, vectors};
use sframe_corpus::{corpus, files, tools};

#[test]
fn vectors_follow_the_schema() {
    let folder = corpus().join("conformance");
    let schema = fs::read(folder.join("schema.json")).expect("the schema");
    let schema = serde_json::from_slice(&schema).expect("JSON");
    let validator = jsonschema::validator_for(&schema).expect("a schema");
    let paths = files(&folder.join("vectors"));
    assert_eq!(paths.len(), vectors().len());
    for path in paths {
        let text = fs::read(&path).expect("readable");
        let vector: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
        let errors: Vec<String> =
            validator.iter_errors(&vector).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{}: {errors:#?}", path.display());
        let name = path.strip_prefix(folder.join("vectors")).expect("below it").with_extension("");
        assert_eq!(vector["name"], name.display().to_string());
    }
}

/// The generator is the source: nobody edits a vector by hand.
#[test]
fn vectors_are_what_the_generator_writes() {
    if !tools::is_installed("python3") {
        return;
    }
    let generator = corpus().join("conformance/generator/generate.py");
    let output = Command::new("python3").arg("-B").arg(generator).arg("--check").output();
    let output = output.expect("python3 runs");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
}

/// Each version has vectors for each machine that it defines, and both sound and malformed ones.
#[test]
fn every_version_and_machine_is_covered() {
    let mut machines = BTreeMap::<u8, BTreeSet<String>>::new();
    let mut kinds = BTreeMap::<u8, BTreeSet<String>>::new();
    let all = vectors();
    for vector in &all {
        let version = vector.clause.version;
        if vector.kind == Kind::Sound {
            machines.entry(version).or_default().insert(vector.section.machine.clone());
        }
        kinds.entry(version).or_default().insert(format!("{:?}", vector.kind));
    }
    let expected = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let arm = ["aarch64", "aarch64_be", "amd64"];
    let later: BTreeSet<String> = expected(&[&arm[..], &["s390x"]].concat());
    assert_eq!(machines, BTreeMap::from([(1, expected(&arm)), (2, later.clone()), (3, later)]));
    let every: BTreeSet<String> = expected(&["Differing", "Malformed", "Sound"]);
    assert_eq!(kinds, [1, 2, 3].map(|version| (version, every.clone())).into());
    let walks = all.iter().map(|vector| vector.expect.walks.len()).sum::<usize>();
    let lookups = all.iter().map(|vector| vector.expect.lookups.len()).sum::<usize>();
    assert!(all.len() > 800 && walks > 100 && lookups > 10_000, "{walks} walks, {lookups} lookups");
}

#[test]
fn compiled_in_vectors_are_those_of_the_folder() {
    let names = |found: Vec<sframe_conformance::Vector>| -> Vec<String> {
        found.into_iter().map(|vector| vector.name).collect()
    };
    let found = load(&corpus().join("conformance/vectors")).expect("vectors");
    assert_eq!(names(found), names(vectors()));
}
