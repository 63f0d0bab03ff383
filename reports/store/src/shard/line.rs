//! The lines of a shard that are not records.

use serde::Serialize;

use crate::field::{Defect, Object};
use crate::manifest::{FORMAT, MAX_ITEMS, MAX_SHARDS};
use crate::{ContentHash, Counts, Manifest};

/// How a record's line starts.
pub(crate) const RECORD: &[u8] = br#"{"type":"file","#;
/// How an item's line starts.
pub(crate) const ITEM: &[u8] = br#"{"type":"item","#;
/// How the last line starts.
pub(crate) const END: &[u8] = br#"{"type":"end","#;

/// The longest of these lines, in bytes: they hold hashes, numbers and a few names.
const MAX_NOTE: usize = 64 << 10;

/// An item is done; its records stand before this line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ItemLine {
    /// The item's number in the manifest.
    pub item: u32,
    /// The hash of its bytes, where they could be read.
    pub hash: Option<ContentHash>,
    /// How many records it has: none where it is no ELF file, many where it is a package.
    pub records: u64,
    /// What was met in it and has no record.
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

/// What a whole shard holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardTotals {
    /// How many items.
    pub items: u64,
    /// How many records.
    pub records: u64,
    /// What was met and has no record.
    pub without: Counts,
    /// The hash of all lines but the last: shards that agree in it say the same.
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

    /// How it differs from what a shard of this manifest ends with; `None` where it does not.
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
    // These types have text keys only, and memory takes what is written.
    serde_json::to_vec(fields).unwrap_or_default()
}
