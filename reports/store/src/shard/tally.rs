//! What a shard's lines must be, besides intact: readable records of the items that the manifest lists. Readers and
//! writers apply the same rules, so that whatever is written, or called whole, can be read.

use std::os::unix::ffi::OsStrExt;

use sframe_record::Record;
use sframe_record::json::{exact_name, name};

use super::line::{ItemLine, ShardTotals};
use super::line_error::LineError;
use crate::counts::MAX_KINDS;
use crate::{ContentHash, Counts, Item, Manifest};

/// Counts the lines of a shard, and compares them with the manifest.
#[derive(Debug)]
pub(super) struct Tally<'m> {
    manifest: &'m Manifest,
    shard: u32,
    items: u64,
    records: u64,
    /// Records since the last item line.
    of_item: u64,
    without: Counts,
}

impl<'m> Tally<'m> {
    pub(super) fn new(manifest: &'m Manifest, shard: u32) -> Tally<'m> {
        Tally { manifest, shard, items: 0, records: 0, of_item: 0, without: Counts::default() }
    }

    /// The number of the item that the manifest lists next; `None` if all are done.
    pub(super) fn next_item(&self) -> Option<u32> {
        self.manifest.number_in(self.shard, self.items)
    }

    /// The number of records since the last item line.
    pub(super) const fn of_item(&self) -> u64 {
        self.of_item
    }

    /// Whether records follow the last item line.
    pub(super) const fn is_within_item(&self) -> bool {
        self.of_item > 0
    }

    /// Adds a record of the next item, and returns it.
    ///
    /// # Errors
    /// The reason if it cannot be read, or is about another file.
    pub(super) fn record<'a>(&mut self, text: &'a [u8]) -> Result<Record<'a>, LineError> {
        self.of_item += 1;
        let text = str::from_utf8(text).map_err(LineError::NotUtf8)?;
        let record = Record::parse(text).map_err(LineError::Unreadable)?;
        let (number, item) = self.of_manifest().ok_or(LineError::AfterLastItem)?;
        if is_of(&record, item) {
            return Ok(record);
        }
        let item = name(item.path.as_os_str().as_bytes());
        Err(LineError::OtherFile { path: record.path.as_str().to_owned(), number, item })
    }

    /// Adds the line of a finished item.
    ///
    /// # Errors
    /// The reason if it contradicts the manifest or the records before it.
    pub(super) fn item(&mut self, line: &ItemLine) -> Result<(), LineError> {
        let ItemLine { item: number, hash, records, without } = line;
        let (number, stated) = (*number, *records);
        let of_item = std::mem::take(&mut self.of_item);
        let planned = self.of_manifest().filter(|(next, _)| *next == number);
        self.items += 1;
        self.records += of_item;
        self.without.add_all(without);
        let (_, item) = planned.ok_or(LineError::OutOfOrder(number))?;
        if stated != of_item {
            return Err(LineError::Records { number, records: of_item, stated });
        }
        if of_item == 0 && without.is_empty() {
            return Err(LineError::Empty(number));
        }
        if let (&Some(hash), &Some(planned)) = (hash, &item.hash)
            && hash != planned
        {
            return Err(LineError::Hash { number, hash, planned });
        }
        if self.without.kinds() > MAX_KINDS {
            return Err(LineError::Kinds);
        }
        Ok(())
    }

    /// The totals; `hash` is that of the lines.
    pub(super) fn totals(&self, hash: ContentHash) -> ShardTotals {
        let Tally { items, records, without, .. } = self;
        ShardTotals { items: *items, records: *records, without: without.clone(), hash }
    }

    fn of_manifest(&self) -> Option<(u32, &'m Item)> {
        let number = self.next_item()?;
        Some((number, self.manifest.items().get(usize::try_from(number).ok()?)?))
    }
}

/// Whether a record is about this item, or a file in it.
fn is_of(record: &Record<'_>, item: &Item) -> bool {
    let path = item.path.as_os_str().as_bytes();
    record.path_bytes() == path && record.path_hex.as_deref() == exact_name(path).as_deref()
}
