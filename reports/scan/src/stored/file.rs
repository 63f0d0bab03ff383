//! Checks one file of a scan with stored results.

use std::io;
use std::path::Path;

use sframe_store::{ContentHash, Counts};

use super::record::{self, StoredRecord};
use crate::{Checker, Collector};
use sframe_input::{Input, has_large_holes, open_file};
use sframe_record::Record;

/// The maximum number of findings of a file in a store. Further ones are counted: its records are read as a whole.
const MOST_KEPT: usize = 100_000;

/// Checks a file. Passes its records on one by one, and counts the files without a record by kind. An archive or package
/// without files is counted itself, as empty.
pub(super) fn check(
    path: &Path,
    checker: &Checker<'_>,
    record: &mut dyn FnMut(Vec<u8>),
) -> io::Result<Counts> {
    let (mut without, mut failed) = (Counts::default(), None);
    let mut has_records = false;
    let mut keep = |found: &Record<'_>| match record::of(found) {
        Ok(StoredRecord::Record(kept)) => {
            has_records = true;
            record(kept);
        }
        Ok(StoredRecord::Count(kind)) => without.add(&kind, 1),
        Err(error) => failed = failed.take().or(Some(error)),
    };
    // In a store, a record is one line.
    let mut collector = Collector::of(MOST_KEPT);
    checker.input(Input::File(path.to_owned()), &mut |piece| {
        collector.add(piece).iter().for_each(&mut keep);
    });
    // Otherwise it could not be distinguished from an item whose records were lost.
    if !has_records && without.is_empty() {
        without.add(record::EMPTY, 1);
    }
    failed.map_or(Ok(without), |error| Err(error.into()))
}

/// The hash of a file's bytes. A file with large holes is not hashed, but checked in each scan.
pub(super) fn hash_of(path: &Path) -> io::Result<ContentHash> {
    let file = open_file(path)?;
    match has_large_holes(&file.metadata()?) {
        true => Err(io::Error::other("it has holes of more than 1 GiB")),
        false => ContentHash::of_reader(file),
    }
}
