//! Runs every target on the checked-in corpus, unchanged and damaged, and on seeded inputs.

mod corpus;

use corpus::{files, sections};
use sframe_corpus::tools;
use sframe_fuzz::standalone::seeded;
use sframe_fuzz::targets;

/// The number of inputs of each kind, which take some seconds without optimisation.
const COUNT: u64 = 2_000;

/// Runs a target on unchanged files, on damaged ones, and on seeded inputs.
fn smoke(run: fn(&[u8]), files: Vec<corpus::File>) {
    let files: Vec<_> = files.into_iter().map(|file| file.bytes).collect();
    files.iter().for_each(|file| run(file));
    seeded(COUNT, &files, run);
    seeded(COUNT, &[], run);
}

#[test]
fn bytes() {
    smoke(targets::bytes::run, sections());
}

#[test]
fn whole_files() {
    smoke(targets::files::run, files());
}

#[test]
fn headers() {
    let linked = files().into_iter().filter(|file| file.bytes.get(16) != Some(&1));
    smoke(targets::headers::run, linked.collect());
}

#[test]
fn packages() {
    let packages = sframe_fuzz::seeds::packages(&files()[0].bytes);
    packages.iter().for_each(|package| targets::packages::run(package));
    seeded(COUNT, &packages, targets::packages::run);
    seeded(COUNT, &[], targets::packages::run);
}

#[test]
fn scans() {
    let scans = sframe_fuzz::seeds::scans(&sframe_corpus::corpus());
    scans.iter().for_each(|scan| targets::scans::run(scan));
    seeded(COUNT, &scans, targets::scans::run);
    seeded(COUNT, &[], targets::scans::run);
}

/// A run parses some 30 documents.
#[test]
fn names() {
    let names = [targets::names::HOSTILE, "", "`", "a.so", " |", "\u{fffe}"];
    let names: Vec<Vec<u8>> = names.iter().map(|name| name.as_bytes().to_vec()).collect();
    names.iter().for_each(|name| targets::names::run(name));
    seeded(COUNT / 100, &names, targets::names::run);
}

#[test]
fn generated() {
    smoke(targets::generated::run, Vec::new());
}

#[test]
fn mutated() {
    smoke(targets::mutated::run, Vec::new());
}

#[test]
fn cfi() {
    smoke(targets::cfi::run, Vec::new());
}

#[test]
fn twins() {
    smoke(targets::twins::run, Vec::new());
}

#[test]
fn readers() {
    if !targets::readers::has_peers() {
        tools::missing("libsframe", "corpus/build fetch");
        return;
    }
    smoke(targets::readers::run, sections());
}

/// The build script for OSS-Fuzz makes an archive of the seeds of each target.
#[test]
fn every_target_has_seeds() {
    let folder = sframe_corpus::folder!("seeds-of-targets");
    let seeds = std::process::Command::new(env!("CARGO_BIN_EXE_seeds")).arg(&folder).output();
    assert!(seeds.expect("it runs").status.success());
    let targets = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz_targets");
    for target in std::fs::read_dir(targets).expect("readable").flatten() {
        let path = target.path();
        let name = path.file_stem().expect("a name");
        let inputs = std::fs::read_dir(folder.join(name)).map(Iterator::count);
        assert!(inputs.is_ok_and(|count| count > 0), "{}", name.display());
    }
}
