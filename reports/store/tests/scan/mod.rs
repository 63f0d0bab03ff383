//! A small scan for tests of stores: its plan, and the results for each item, which depend only on the item's number.

#![allow(dead_code, reason = "each test program uses a part of it")]

use std::fs;
use std::path::{Path, PathBuf};

use sframe_store::{ContentHash, Counts, Finished, Item, Key, Manifest, Plan, Shard, Store};

/// An empty folder for a test.
pub(crate) fn folder(name: &str) -> PathBuf {
    sframe_corpus::folder!(name)
}

pub(crate) fn key() -> Key {
    let (rules, options) = (ContentHash::of(b"rules"), ContentHash::of(b"options"));
    Key { tool: "sframe-check 0.1.0".to_owned(), rules, options }
}

pub(crate) fn path_of(item: u32) -> PathBuf {
    format!("usr/lib/lib{item}.so").into()
}

/// The hash of an item's content.
pub(crate) fn content(item: u32) -> ContentHash {
    ContentHash::of(&item.to_le_bytes())
}

pub(crate) fn items(number: u32) -> Vec<Item> {
    let size = |item: u32| u64::from(item.wrapping_mul(2_654_435_761) % 100_000);
    let item = |item| Item { path: path_of(item), size: size(item), hash: Some(content(item)) };
    (0..number).map(item).collect()
}

pub(crate) fn plan(items: Vec<Item>, shards: u32) -> Plan {
    let inputs = vec!["usr".into()];
    Plan { key: key(), inputs, shards, without: Counts::default(), items }
}

/// The manifest of a scan of `number` items.
pub(crate) fn manifest(number: u32, shards: u32) -> Manifest {
    Manifest::plan(plan(items(number), shards)).expect("a plan")
}

const FINDING: &str =
    r#"{"rule":"cfa-mismatch","severity":"error","group":"rows","message":"fact"},"#;

/// The records of an item, of various lengths: none for every seventh item, two for every fifth, and one for others.
pub(crate) fn records(item: u32) -> Vec<String> {
    let number = if item.is_multiple_of(7) { 0 } else { 1 + u32::from(item.is_multiple_of(5)) };
    let record = |record: u32| {
        let findings = FINDING.repeat((item % 13) as usize);
        let path = path_of(item);
        format!(
            "{{\"type\":\"file\",\"path\":\"{}\",\"member\":\"{record}\",\"status\":\"checked\",\"findings\":[{}]}}",
            path.display(),
            findings.trim_end_matches(',')
        )
    };
    (0..number).map(record).collect()
}

/// The number of files in an item that have no record.
pub(crate) fn without(item: u32) -> Counts {
    let mut counts = Counts::default();
    counts.add("not-elf", u64::from(item.is_multiple_of(7)));
    counts
}

/// Writes a shard.
pub(crate) fn write(store: &Store, shard: u32) -> sframe_store::Result<Option<Finished>> {
    let Shard::ToDo(mut writer) = store.begin(shard)? else { return Ok(None) };
    while let Some(item) = writer.next_item() {
        for record in records(item) {
            writer.record(record.as_bytes())?;
        }
        writer.item_done(item, Some(content(item)), without(item))?;
    }
    writer.finish().map(Some)
}

/// A store with all its shards, not merged.
pub(crate) fn whole(folder: &Path, number: u32, shards: u32) -> Store {
    let store = Store::create(folder, manifest(number, shards)).expect("a store");
    for shard in 0..shards {
        write(&store, shard).expect("a shard");
    }
    store
}

pub(crate) fn shard_path(folder: &Path, shard: u32) -> PathBuf {
    folder.join(format!("shards/{shard:05}.ndjson.zst"))
}

/// Lines compressed with zstd.
pub(crate) fn compressed(lines: &str) -> Vec<u8> {
    zstd::encode_all(lines.as_bytes(), 3).expect("memory")
}

pub(crate) fn decompressed(path: &Path) -> String {
    let bytes = fs::read(path).expect("readable");
    String::from_utf8(zstd::decode_all(&*bytes).expect("zstd")).expect("UTF-8")
}

/// A generator of numbers from a seed (xorshift64, G. Marsaglia 2003).
#[derive(Debug)]
pub(crate) struct Numbers(pub(crate) u64);

impl Numbers {
    pub(crate) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}
