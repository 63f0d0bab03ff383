//! The cost of a scan whose files have not changed: 16,000 ELF files, as in a large installation of a distribution,
//! with records of the corpus, in 64 shards; and the cost of stamps for all files below /usr.
//!
//!     cargo bench -p sframe-store

#![allow(clippy::cast_possible_truncation, reason = "a benchmark of small numbers")]

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use divan::Bencher;
use sframe_store::{
    ContentHash, Counts, Item, Key, Known, Manifest, Plan, Previous, Shard, Stamps, StampsWriter,
    Store,
};

const FILES: u32 = 16_000;
const SHARDS: u32 = 64;

fn main() {
    divan::main();
}

fn key() -> Key {
    let hash = ContentHash::of(b"");
    Key { tool: "bench".to_owned(), rules: hash, options: hash }
}

fn content(item: u32) -> ContentHash {
    ContentHash::of(&item.to_le_bytes())
}

fn path_of(item: u32) -> PathBuf {
    format!("usr/lib/x86_64-linux-gnu/lib{item}.so").into()
}

fn manifest() -> Manifest {
    let item = |item| Item {
        path: path_of(item),
        size: u64::from(item.wrapping_mul(2_654_435_761) % 1_000_000),
        hash: Some(content(item)),
    };
    let items = (0..FILES).map(item).collect();
    let plan =
        Plan { key: key(), inputs: Vec::new(), shards: SHARDS, without: Counts::default(), items };
    Manifest::plan(plan).expect("a plan")
}

/// Writes all shards to a new store.
fn write(folder: &Path) -> Store {
    let _ = fs::remove_dir_all(folder);
    let store = Store::create(folder, manifest()).expect("a store");
    let records = include_str!("../tests/records/records.ndjson");
    // Names without characters that JSON escapes can be replaced.
    let records: Vec<&str> = records.lines().filter(|line| !line.contains('\\')).collect();
    for shard in 0..SHARDS {
        let Shard::ToDo(mut writer) = store.begin(shard).expect("a shard") else { continue };
        while let Some(item) = writer.next_item() {
            let record = records.iter().cycle().nth(item as usize % records.len());
            let old = record.expect("records").split_once("\"path\":\"").expect("a path");
            let rest = old.1.split_once('"').expect("its end").1;
            let path = path_of(item);
            let record = format!("{}\"path\":\"{}\"{rest}", old.0, path.display());
            writer.record(record.as_bytes()).expect("a record");
            writer.item_done(item, Some(content(item)), Counts::default()).expect("it is next");
        }
        writer.finish().expect("a shard");
    }
    store
}

static STORE: LazyLock<Store> =
    LazyLock::new(|| write(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench-resume")));

static FILES_OF_USR: LazyLock<Vec<Metadata>> = LazyLock::new(|| {
    let (mut folders, mut files) = (vec![PathBuf::from("/usr")], Vec::new());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.metadata() {
                Ok(metadata) if metadata.is_dir() => folders.push(entry.path()),
                Ok(metadata) => files.push(metadata),
                Err(_) => {}
            }
        }
    }
    files
});

/// Writes all shards, and syncs them to disk.
#[divan::bench(sample_count = 5)]
fn write_shards(bencher: Bencher<'_, '_>) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench-write");
    bencher.bench(|| write(&folder));
}

/// Opens the store of an earlier scan, which reads all shards and verifies their hashes.
#[divan::bench(sample_count = 20)]
fn open_previous(bencher: Bencher<'_, '_>) {
    let folder = STORE.folder();
    bencher.bench(|| Previous::open(folder, &key()).expect("a store"));
}

/// Finds each item's records, in input order.
#[divan::bench(sample_count = 20)]
fn find_in_input_order(bencher: Bencher<'_, '_>) {
    let previous = Previous::open(STORE.folder(), &key()).expect("a store");
    let items: Vec<(PathBuf, ContentHash)> =
        (0..FILES).map(|item| (path_of(item), content(item))).collect();
    bencher.bench(|| {
        for (path, hash) in &items {
            divan::black_box(previous.find(path, hash).expect("readable").expect("known"));
        }
    });
}

/// Loads the stamps of all files, and finds each file. One in twenty counts as an ELF file.
#[divan::bench(sample_count = 20)]
fn stamps(bencher: Bencher<'_, '_>) {
    let folder = STORE.folder();
    let mut writer = StampsWriter::start(folder, &key()).expect("writable");
    for (number, metadata) in FILES_OF_USR.iter().enumerate() {
        let hash = ContentHash::of(b"");
        let known = if number % 20 == 0 { Known::Content(hash) } else { Known::Without("not-elf") };
        writer.note(metadata, known);
    }
    writer.save().expect("writable");
    bencher.counter(divan::counter::ItemsCount::new(FILES_OF_USR.len())).bench(|| {
        let stamps = Stamps::load(folder, &key()).expect("whole");
        assert!(FILES_OF_USR.iter().filter(|file| stamps.find(file).is_some()).count() > 0);
    });
}
