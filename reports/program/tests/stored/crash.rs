//! A file that crashes the checker.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;

use crate::{folder, golden_tree, records};

/// Writes a package with a member of 300 MiB, which does not fit into the memory that the tests allow.
pub(crate) fn package(path: &Path) {
    let mut archive = tar::Builder::new(flate2::write::GzEncoder::new(
        File::create(path).expect("a file"),
        flate2::Compression::fast(),
    ));
    let mut header = tar::Header::new_gnu();
    header.set_size(300 << 20);
    header.set_mode(0o755);
    let elf = std::io::Read::chain(b"\x7fELF\x02\x01\x01".as_slice(), std::io::repeat(0));
    let member = std::io::Read::take(elf, 300 << 20);
    archive.append_data(&mut header, "usr/lib/large.so", member).expect("a member");
    archive.into_inner().and_then(flate2::write::GzEncoder::finish).expect("written");
}

#[test]
fn a_crash_is_recorded_and_the_scan_continues() {
    let folder = folder("crashed");
    golden_tree(&folder.join("tree"));
    package(&folder.join("tree/2.44/large.tar.gz"));
    let program = env!("CARGO_BIN_EXE_sframe-check");
    // 450 MB of address space: too little for the member, enough for everything else.
    let line = format!(
        "ulimit -v 450000; exec {program} --store store --max-member-size 1000 --max-ratio 100000 tree"
    );
    let output = Command::new("sh").args(["-c", &line]).current_dir(&folder).output();
    let output = output.expect("it runs");
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(error.contains("was ended by SIGABRT"), "{error}");
    let records = records(&folder.join("store"));
    let crashed: Vec<_> = records.values().filter(|record| record["status"] == "crashed").collect();
    assert_eq!(crashed.len(), 1);
    assert_eq!(crashed[0]["path"], "tree/2.44/large.tar.gz");
    assert_eq!(crashed[0]["reason"], "its checker was ended by SIGABRT");
    assert!(records.len() >= 10, "{} records", records.len());
    let run = fs::read_to_string(folder.join("store/run.json")).expect("run.json");
    assert!(run.contains("\"complete\""), "{run}");
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(stdout.contains("1 that crashed the checker"), "{stdout}");
}
