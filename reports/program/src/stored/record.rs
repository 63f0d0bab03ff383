//! Reports as records: the lines of JSON that a store keeps.

use crate::render::json;
use crate::render::schema::Line;
use crate::report::{FileName, FileReport, Outcome};

/// What a store keeps of a report.
pub(super) enum Kept {
    /// A record.
    Record(Vec<u8>),
    /// A count: nothing is to be said of the file but what kind it is of.
    Count(&'static str),
}

/// What is no ELF file, as stores and summaries count it.
pub(super) const NOT_ELF: &str = "not-elf";

/// What is kept of a report.
pub(super) fn of(report: &FileReport) -> serde_json::Result<Kept> {
    Ok(match &report.outcome {
        Outcome::NotElf | Outcome::Empty => Kept::Count(NOT_ELF),
        Outcome::Special(kind) => Kept::Count(kind.name()),
        _ => Kept::Record(line(report)?),
    })
}

/// The record of a file at which its checker has died.
pub(super) fn crashed(name: FileName, how: String) -> serde_json::Result<Vec<u8>> {
    line(&FileReport::new(name, Outcome::Crashed(how)))
}

fn line(report: &FileReport) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&Line::File(Box::new(json::file(report))))
}
