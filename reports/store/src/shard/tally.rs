//! What a shard's lines must be, besides intact: readable records of the items that the manifest lists. Readers and
//! writers apply the same rules, so that whatever is written, or called whole, can be read.

use std::os::unix::ffi::OsStrExt;

use sframe_record::Record;
use sframe_record::json::{exact_name, name};

use super::line::{ItemLine, ShardTotals};
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
    pub(super) fn record<'a>(&mut self, text: &'a [u8]) -> Result<Record<'a>, String> {
        self.of_item += 1;
        let text = str::from_utf8(text).map_err(|error| error.to_string());
        let record = text.and_then(|text| Record::parse(text).map_err(|error| error.to_string()));
        let record = record.map_err(|error| format!("the record cannot be read: {error}"))?;
        let Some((number, item)) = self.of_manifest() else {
            return Err("a record follows the last item".to_owned());
        };
        if is_of(&record, item) {
            return Ok(record);
        }
        let item = name(item.path.as_os_str().as_bytes());
        Err(format!("a record of {:?} among those of item {number}, {item:?}", &*record.path))
    }

    /// Adds the line of a finished item.
    ///
    /// # Errors
    /// The reason if it contradicts the manifest or the records before it.
    pub(super) fn item(&mut self, line: &ItemLine) -> Result<(), String> {
        let ItemLine { item: number, hash, records, without } = line;
        let of_item = std::mem::take(&mut self.of_item);
        let planned = self.of_manifest().filter(|(next, _)| next == number);
        self.items += 1;
        self.records += of_item;
        self.without.add_all(without);
        let Some((_, item)) = planned else {
            return Err(format!("item {number} is out of order"));
        };
        if *records != of_item {
            return Err(format!(
                "item {number} has {of_item} records, but its line states {records}"
            ));
        }
        if of_item == 0 && without.is_empty() {
            return Err(format!("item {number} has neither a record nor a file without one"));
        }
        if let (Some(hash), Some(planned)) = (hash, &item.hash)
            && hash != planned
        {
            return Err(format!(
                "item {number} has the hash {hash}, but {planned} in the manifest"
            ));
        }
        if self.without.kinds() > MAX_KINDS {
            return Err(format!("more than {MAX_KINDS} kinds without a record"));
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
