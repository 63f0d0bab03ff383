//! Zip files: wheels, jars. The authoritative table of members is at the end of the file.

use std::io::Cursor;

use ::zip::ZipReadOptions;
use ::zip::result::ZipError;
use ::zip::unstable::read::ZipIterable;

use super::limits::Metered;
use super::mode::Mode;
use super::{Content, Failure, Place, Visit, relative};
use crate::Special;

pub(super) fn visit(
    visit: &mut Visit<'_>,
    place: &Place,
    reader: Cursor<&[u8]>,
) -> Result<(), Failure> {
    // The library's usual reader holds the whole table in memory, which may be most of the file.
    let mut zip = ZipIterable::try_new(reader, ::zip::read::Config::default())?;
    let entries = zip.files()?;
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let place = visit.member(place, relative(entry.name_raw()))?;
        if entry.is_dir() {
            continue;
        }
        // unzip ignores all other file types in the mode: such members have content.
        if entry.unix_mode().is_some_and(|mode| Mode::of(mode) == Mode::Link) {
            visit.report(&place, Content::Special(Special::StoredLink));
            continue;
        }
        match entry.with_reader(entries.reader_mut(), ZipReadOptions::default()) {
            // Members may share bytes of the file, so uncompressed ones are counted as well.
            Ok(file) => visit.content(&place, &mut Metered::new(file, "zip", visit.meter))?,
            Err(error) => visit.damaged(&place, error.to_string())?,
        }
    }
    Ok(())
}

impl From<ZipError> for Failure {
    fn from(error: ZipError) -> Failure {
        Failure::Damaged(format!("zip: {error}"))
    }
}
