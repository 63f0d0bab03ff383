//! Files that change while they are read.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use sframe_corpus::time::wait_until;
use sframe_input::Selection;
use sframe_policy::Policy;
use sframe_record::{Events, Finding, Record, Status, Summary};
use sframe_scan::{CheckOptions, Sink, scan};
use sframe_validator::check::Options;
use sframe_validator::finding::Keep;

const PROGRAM: &str = "golden/2.47.50/x86_64/static.exe";
/// Valid files, before and after the changing file in the order of the scan.
const OTHERS: [&str; 4] = ["a", "b", "y", "z"];
/// The size of the changing file. Hashing it takes a fraction of a second.
const LARGE: u64 = 512 << 20;

/// The outcome for each file: the number of sections, or the reason why it could not be read.
#[derive(Default)]
struct Reports(BTreeMap<PathBuf, String>);

impl Events for Reports {
    fn begin(&mut self, _: &Record<'_>) -> io::Result<()> {
        Ok(())
    }

    fn finding(&mut self, _: &Record<'_>, _: &Finding<'_>) -> io::Result<()> {
        Ok(())
    }

    fn end(&mut self, record: &Record<'_>) -> io::Result<()> {
        let text = match (record.status, &record.reason) {
            (Status::Checked, _) => format!("{} sections", record.sections.len()),
            (Status::Unreadable, Some(reason)) => reason.to_string(),
            other => format!("{other:?}"),
        };
        let other = self.0.insert(record.path.as_str().into(), text);
        assert_eq!(other, None, "{} is reported twice", record.path);
        Ok(())
    }
}

impl Sink for Reports {
    fn tick(&mut self, _: &Summary<'_>) {}
}

/// Scans a folder on two threads, with file hashes (as for a store) and all findings.
fn scanned(folder: &Path) -> Reports {
    let validator = Options { keep: Keep::All, ..Options::default() };
    let options = CheckOptions { hash: true, validator, ..CheckOptions::default() };
    let mut reports = Reports::default();
    let inputs = Selection::new(&[folder.into()], Vec::new());
    scan(inputs, &options, &Policy::default(), 2, &mut reports).expect("no output error");
    reports
}

/// Whether this process maps a file (proc_pid_maps(5)).
fn is_mapped(path: &Path) -> bool {
    let maps = fs::read_to_string("/proc/self/maps").expect("readable");
    let path = path.canonicalize().expect("it exists");
    maps.lines().any(|line| line.ends_with(path.to_str().expect("UTF-8")))
}

/// A file shrinks during a scan, 25 times, each time a little later. Without a SIGBUS handler, the first time would
/// kill this process.
#[test]
fn a_shrinking_file_affects_only_its_own_report() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = sframe_corpus::read(PROGRAM);
    for name in OTHERS {
        // A different last byte for each, so that none is recognised as a copy of another.
        fs::write(folder.path().join(name), [program.as_slice(), name.as_bytes()].concat())
            .expect("writable");
    }
    let large = folder.path().join("large");
    let mut changed = 0;
    for attempt in 0..25 {
        fs::write(&large, &program).expect("writable");
        let file = File::options().write(true).open(&large).expect("writable");
        file.set_len(LARGE).expect("disk space");
        let reports = thread::scope(|scope| {
            let scanning = scope.spawn(|| scanned(folder.path()));
            // At the first attempt, the file shrinks before it is opened, or about then.
            let is_open = || attempt == 0 || scanning.is_finished() || is_mapped(&large);
            wait_until("the file is not mapped", is_open);
            thread::sleep(Duration::from_millis(attempt));
            file.set_len(0).expect("writable");
            scanning.join().expect("no panic")
        });
        for name in OTHERS {
            assert_eq!(reports.0[&folder.path().join(name)], "1 sections");
        }
        changed += usize::from(reports.0[&large] == "it changed while it was read");
    }
    // In some attempts, the file shrinks after it is checked.
    assert!(changed > 5, "{changed} of 25 shrank while they were read");
}
