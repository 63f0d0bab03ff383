//! The lines of a shard that are not records.

use serde::Serialize;

use crate::field::{Defect, Object};
use crate::manifest::{FORMAT, MAX_ITEMS, MAX_SHARDS};
use crate::{ContentHash, Counts, Manifest};

/// The first bytes of the line of a record.
pub(crate) const RECORD: &[u8] = br#"{"type":"file","#;
/// The first bytes of the line of an item.
pub(crate) const ITEM: &[u8] = br#"{"type":"item","#;
/// The first bytes of the last line.
pub(crate) const END: &[u8] = br#"{"type":"end","#;

/// The maximum length of these lines in bytes: they contain hashes, numbers and a few names.
const MAX_NOTE: usize = 64 << 10;

/// A finished item; its records precede this line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemLine {
    /// The item's number in the manifest.
    pub item: u32,
    /// The hash of its bytes, if they could be read.
    pub hash: Option<ContentHash>,
    /// The number of its records: 0 if it is not an ELF file, many if it is a package.
    pub records: u64,
    /// The counts of files in it that have no record.
    pub without: Counts,
}

#[derive(Serialize)]
struct ItemFields<'a> {
    r#type: &'static str,
    item: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    hash: Option<ContentHash>,
    records: u64,
    #[serde(skip_serializing_if = "Counts::is_empty")]
    without: &'a Counts,
}

impl ItemLine {
    pub(super) fn write(&self) -> Vec<u8> {
        let ItemLine { item, hash, records, without } = self;
        let (item, hash, records) = (*item, *hash, *records);
        text(&ItemFields { r#type: "item", item, hash, records, without })
    }

    pub(crate) fn read(line: u64, text: &[u8]) -> Result<ItemLine, Defect> {
        let object = Object::parse(line, text, MAX_NOTE)?;
        let item = object.number("item", 0..=MAX_ITEMS)?;
        Ok(ItemLine {
            item: u32::try_from(item).unwrap_or(u32::MAX),
            hash: object.optional_hash("hash")?,
            records: object.number("records", 0..=u64::MAX)?,
            without: Counts::read(&object, "without")?,
        })
    }
}

/// The totals of a complete shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardTotals {
    /// The number of items.
    pub items: u64,
    /// The number of records.
    pub records: u64,
    /// The counts of files without a record.
    pub without: Counts,
    /// The hash of all lines except the last: shards with the same hash have the same contents.
    pub hash: ContentHash,
}

/// The last line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct EndLine {
    pub(super) manifest: ContentHash,
    pub(super) key: ContentHash,
    pub(super) shard: u32,
    pub(super) totals: ShardTotals,
}

#[derive(Serialize)]
struct EndFields<'a> {
    r#type: &'static str,
    format: u64,
    manifest: ContentHash,
    key: ContentHash,
    shard: u32,
    items: u64,
    records: u64,
    #[serde(skip_serializing_if = "Counts::is_empty")]
    without: &'a Counts,
    hash: ContentHash,
}

impl EndLine {
    pub(super) fn new(manifest: &Manifest, shard: u32, totals: ShardTotals) -> EndLine {
        EndLine { manifest: manifest.hash(), key: manifest.key().hash(), shard, totals }
    }

    pub(super) fn write(&self) -> Vec<u8> {
        let EndLine { manifest, key, shard, totals } = self;
        let ShardTotals { items, records, without, hash } = totals;
        text(&EndFields {
            r#type: "end",
            format: FORMAT,
            manifest: *manifest,
            key: *key,
            shard: *shard,
            items: *items,
            records: *records,
            without,
            hash: *hash,
        })
    }

    pub(super) fn read(line: u64, text: &[u8]) -> Result<EndLine, Defect> {
        let object = Object::parse(line, text, MAX_NOTE)?;
        object.number("format", FORMAT..=FORMAT)?;
        let shard = object.number("shard", 0..=u64::from(MAX_SHARDS) - 1)?;
        let totals = ShardTotals {
            items: object.number("items", 0..=MAX_ITEMS)?,
            records: object.number("records", 0..=u64::MAX)?,
            without: Counts::read(&object, "without")?,
            hash: object.hash("hash")?,
        };
        Ok(EndLine {
            manifest: object.hash("manifest")?,
            key: object.hash("key")?,
            shard: u32::try_from(shard).unwrap_or(MAX_SHARDS),
            totals,
        })
    }

    /// How it differs from the last line of this manifest's shard; `None` if it does not.
    pub(super) fn foreign(&self, manifest: &Manifest, shard: u32) -> Option<String> {
        let differs = |what, is: &dyn std::fmt::Display, expected: &dyn std::fmt::Display| {
            Some(format!("its {what} is {is}, not {expected}"))
        };
        if self.manifest != manifest.hash() {
            return differs("manifest", &self.manifest, &manifest.hash());
        }
        if self.key != manifest.key().hash() {
            return differs("key", &self.key, &manifest.key().hash());
        }
        if self.shard != shard {
            return differs("number", &self.shard, &shard);
        }
        None
    }
}

fn text(fields: &impl Serialize) -> Vec<u8> {
    // Serialization cannot fail: all keys are strings, and the output is in memory.
    serde_json::to_vec(fields).unwrap_or_default()
}
