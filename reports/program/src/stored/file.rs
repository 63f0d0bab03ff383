//! One file of a scan whose results are kept.

use std::io;
use std::path::Path;

use sframe_store::{ContentHash, Counts};

use super::record::{self, Kept};
use crate::scan::Checker;
use sframe_input::{Input, has_large_holes, open_file};

/// Checks a file: passes its records on as they are made, and counts what has none, by kind.
pub(super) fn check(
    path: &Path,
    checker: &Checker<'_>,
    record: &mut dyn FnMut(Vec<u8>),
) -> io::Result<Counts> {
    let (mut without, mut failed) = (Counts::default(), None);
    checker.input(Input::File(path.to_owned()), &mut |found| match record::of(&found) {
        Ok(Kept::Record(kept)) => record(kept),
        Ok(Kept::Count(kind)) => without.add(&kind, 1),
        Err(error) => failed = failed.take().or(Some(error)),
    });
    failed.map_or(Ok(without), |error| Err(error.into()))
}

/// The hash of a file's bytes. One with large holes has none: it is checked in each scan.
pub(super) fn hash_of(path: &Path) -> io::Result<ContentHash> {
    let file = open_file(path)?;
    match has_large_holes(&file.metadata()?) {
        true => Err(io::Error::other("it has holes of more than 1 GiB")),
        false => ContentHash::of_reader(file),
    }
}
