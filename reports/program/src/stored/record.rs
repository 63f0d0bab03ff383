//! Records as a store keeps them: lines of JSON.

use sframe_record::{FileName, Record, Status};

use crate::render::json::Line;

/// What a store keeps of a file.
pub(super) enum Kept {
    /// A record.
    Record(Vec<u8>),
    /// A count: there is nothing to say about the file but its kind.
    Count(String),
}

/// What is no ELF file, as stores and summaries count it.
pub(super) const NOT_ELF: &str = "not-elf";

/// What is kept of a record.
pub(super) fn of(record: &Record<'_>) -> serde_json::Result<Kept> {
    Ok(match record.status {
        Status::NotElf => Kept::Count(NOT_ELF.to_owned()),
        Status::Special => {
            Kept::Count(record.reason.as_ref().map_or("", |kind| kind.as_str()).to_owned())
        }
        _ => Kept::Record(line(record)?),
    })
}

/// The record of a file whose check crashed.
pub(super) fn crashed(name: &FileName, how: String) -> serde_json::Result<Vec<u8>> {
    line(&Record::because(Status::Crashed, how).named(name))
}

fn line(record: &Record<'_>) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&Line::File(record))
}
