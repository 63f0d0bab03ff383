//! Records in a store, which are lines of JSON.

use sframe_record::{FileName, Record, Status};

use sframe_record::ndjson::Line;

/// The part of a record that a store keeps.
pub(super) enum StoredRecord {
    /// The whole record as a line.
    Record(Vec<u8>),
    /// A count by kind, if the record contains nothing else.
    Count(String),
}

/// The kind of files that are not ELF files, in stores and summaries.
pub(super) const NOT_ELF: &str = "not-elf";

/// The kind of archives and packages without files, in stores.
pub(super) const EMPTY: &str = "empty-archive";

/// The part of a record that is kept.
pub(super) fn of(record: &Record<'_>) -> serde_json::Result<StoredRecord> {
    Ok(match record.status {
        Status::NotElf => StoredRecord::Count(NOT_ELF.to_owned()),
        Status::Special => {
            StoredRecord::Count(record.reason.as_ref().map_or("", |kind| kind.as_str()).to_owned())
        }
        _ => StoredRecord::Record(line(record)?),
    })
}

/// The record of a file whose check crashed.
pub(super) fn crashed(name: &FileName, how: String) -> serde_json::Result<Vec<u8>> {
    line(&Record::because(Status::Crashed, how).named(name))
}

fn line(record: &Record<'_>) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&Line::File(record))
}
