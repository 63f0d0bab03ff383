//! Zip files: wheels, jars. Their table of members is at the end, and says what counts.

use std::io::Cursor;

use ::zip::ZipReadOptions;
use ::zip::result::ZipError;
use ::zip::unstable::read::ZipIterable;

use super::limits::Metered;
use super::{Content, Failure, Place, Visit, relative};
use crate::input::Special;

/// The kind of file in a mode (`S_IFMT`), and a symbolic link's.
const KIND: u32 = 0o17_0000;
const LINK: u32 = 0o12_0000;

pub(super) fn visit(
    visit: &mut Visit<'_>,
    place: &Place,
    reader: Cursor<&[u8]>,
) -> Result<(), Failure> {
    // The usual reader holds all of the table, which may be all of the file.
    let mut zip = ZipIterable::try_new(reader, ::zip::read::Config::default())?;
    let entries = zip.files()?;
    while let Some(entry) = entries.next() {
        let entry = entry?;
        visit.count()?;
        let place = place.member(relative(entry.name_raw()));
        let mode = entry.unix_mode().unwrap_or_default();
        if entry.is_dir() {
            continue;
        }
        if mode & KIND == LINK {
            visit.report(&place, Content::Special(Special::StoredLink));
            continue;
        }
        match entry.with_reader(entries.reader_mut(), ZipReadOptions::default()) {
            // Members may share bytes of the file: also what is not compressed counts.
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
