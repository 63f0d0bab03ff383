//! What a store says: in numbers, and by root cause.

use std::io;
use std::str;

use sframe_history::groups::{Groups, RootCauses};
use sframe_record::{Record, Summary};
use sframe_store::{Counts, ShardLine, Store};

use super::record::NOT_ELF;
use super::{Error, Result};
use sframe_input::Special;

/// All that a store says, summed up.
#[derive(Debug)]
pub struct Total {
    /// In numbers.
    pub summary: Summary<'static>,
    /// Findings by what has caused them.
    pub causes: RootCauses,
}

/// Sums up a store's records, those of the shards that are there.
///
/// # Errors
/// A shard is damaged, or cannot be read.
pub fn summary(store: &Store) -> Result<Total> {
    let (mut summary, mut groups) = (Summary::default(), Groups::default());
    count(&mut summary, store.manifest().without());
    for shard in 0..store.manifest().shards() {
        let mut reader = match store.read(shard) {
            Ok(reader) => reader,
            Err(error) if error.is_absence() => continue,
            Err(error) => return Err(error.into()),
        };
        while let Some(line) = reader.next_line()? {
            match line {
                ShardLine::Record(line) => {
                    let record = parse(line, shard)?;
                    summary.add(&record);
                    groups.add(&record);
                }
                ShardLine::Item(item) => count(&mut summary, &item.without),
            }
        }
    }
    Ok(Total { summary, causes: groups.finish() })
}

fn parse(line: &[u8], shard: u32) -> Result<Record<'_>> {
    let damaged = |error: String| {
        Error::Io(io::Error::other(format!("shard {shard}: a record is damaged: {error}")))
    };
    let text = str::from_utf8(line).map_err(|error| damaged(error.to_string()))?;
    Record::parse(text).map_err(|error| damaged(error.to_string()))
}

fn count(summary: &mut Summary<'_>, without: &Counts) {
    for (kind, number) in without.iter() {
        summary.inputs = summary.inputs.saturating_add(number);
        match Special::of_id(kind) {
            Some(special) => summary.add_special(special.id(), number),
            None if kind == NOT_ELF => {
                summary.not_elf = summary.not_elf.saturating_add(number);
            }
            None => summary.unreadable = summary.unreadable.saturating_add(number),
        }
    }
}
