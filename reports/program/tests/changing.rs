//! Files that change while they are read.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use sframe_check::scan::{CheckOptions, Piece, Sink, scan};
use sframe_input::Selection;
use sframe_record::{Status, Summary};

const PROGRAM: &str = "golden/2.47.50/x86_64/static.exe";
/// Other sound files, before and after the one that changes.
const OTHERS: [&str; 4] = ["a", "b", "y", "z"];
/// Bytes of the file that changes: to hash them takes a part of a second.
const LARGE: u64 = 512 << 20;

/// What is reported of each file: of one that could not be read, why.
#[derive(Default)]
struct Reports(BTreeMap<PathBuf, String>);

impl Sink for Reports {
    fn piece(&mut self, piece: Piece) -> io::Result<()> {
        let record = piece.record().expect("few findings: a whole record");
        let text = match (record.status, &record.reason) {
            (Status::Checked, _) => format!("{} sections", record.sections.len()),
            (Status::Unreadable, Some(reason)) => reason.to_string(),
            other => format!("{other:?}"),
        };
        let other = self.0.insert(record.path.as_str().into(), text);
        assert_eq!(other, None, "{} is reported twice", record.path);
        Ok(())
    }

    fn tick(&mut self, _: &Summary<'_>) {}
}

/// Scans a folder on two threads. Files are hashed, as they are for a store, and all findings are asked for.
fn scanned(folder: &Path) -> Reports {
    let options = CheckOptions { hash: true, all: true, ..CheckOptions::default() };
    let mut reports = Reports::default();
    let inputs = Selection::new(&[folder.into()], &[]);
    scan(inputs, &options, 2, &mut reports).expect("it ends in order");
    reports
}

/// 25 times a file shrinks at another moment. Without a handler of SIGBUS the first of them ends this process.
#[test]
fn a_file_that_shrinks_costs_its_own_report_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = sframe_corpus::read(PROGRAM);
    for name in OTHERS {
        // One byte more each, so that they are not known by their bytes.
        fs::write(folder.path().join(name), [program.as_slice(), name.as_bytes()].concat())
            .expect("writable");
    }
    let large = folder.path().join("large");
    let mut changed = 0;
    for attempt in 0..25 {
        fs::write(&large, &program).expect("writable");
        let file = File::options().write(true).open(&large).expect("writable");
        file.set_len(LARGE).expect("room for holes");
        let reports = thread::scope(|scope| {
            let scanning = scope.spawn(|| scanned(folder.path()));
            thread::sleep(Duration::from_millis(5 * attempt));
            file.set_len(0).expect("writable");
            scanning.join().expect("no panic")
        });
        for name in OTHERS {
            assert_eq!(reports.0[&folder.path().join(name)], "1 sections");
        }
        changed += usize::from(reports.0[&large] == "it changed while it was read");
    }
    // Now and then it has shrunk before it was opened, or after it was checked.
    assert!(changed > 5, "{changed} of 25 shrank while they were read");
}
