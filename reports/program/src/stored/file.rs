//! Checks one file of a scan with stored results.

use std::io;
use std::path::Path;

use sframe_store::{ContentHash, Counts};

use super::record::{self, StoredRecord};
use crate::scan::{Checker, Piece};
use sframe_input::{Input, has_large_holes, open_file};
use sframe_record::Record;

/// Checks a file. Passes its records on one by one, and counts the files without a record by kind.
pub(super) fn check(
    path: &Path,
    checker: &Checker<'_>,
    record: &mut dyn FnMut(Vec<u8>),
) -> io::Result<Counts> {
    let (mut without, mut failed) = (Counts::default(), None);
    let mut keep = |found: &Record<'_>| match record::of(found) {
        Ok(StoredRecord::Record(kept)) => record(kept),
        Ok(StoredRecord::Count(kind)) => without.add(&kind, 1),
        Err(error) => failed = failed.take().or(Some(error)),
    };
    // In a store, a record is one line.
    let mut started: Option<Record<'static>> = None;
    checker.input(Input::File(path.to_owned()), &mut |piece| match piece {
        Piece::Whole(record) => keep(&record),
        Piece::Start(record) => started = Some(record),
        Piece::Findings(findings) => {
            started.iter_mut().for_each(|record| record.findings.extend_from_slice(&findings));
        }
        Piece::End => started.take().iter().for_each(&mut keep),
    });
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
