//! Reads the files of a store as for resuming, merging, comparing and skipping unchanged files.
//!
//! An input contains the text of `run.json`, of the manifest and of two shards, the list of files with their hashes,
//! and stamps, separated by [`PART`]. If the list is empty, it is made from the files that are written here. A store
//! contains many hashes of its own text, which a mutation would never match. Inputs therefore have names instead of
//! hashes ([`Hashes`]), and the lines of shards are compressed here.

use std::fs;
use std::io;
use std::path::Path;

use sframe_store::{
    ContentHash, Error, Key, Manifest, Previous, ShardLine, ShardState, Stamps, Status, Store,
    status,
};
use tempfile::TempDir;

/// Separates the files of a store.
pub const PART: u8 = 0;
/// Separates the frames of a shard.
pub const FRAME: u8 = b'\x0c';
/// Each shard is a file to look for, and a manifest can state many more.
const MOST_SHARDS: u32 = 100;

/// The names of hashes in an input.
#[derive(Clone, Copy, Debug)]
pub struct Hashes;

impl Hashes {
    /// The hash of the manifest.
    pub const MANIFEST: &str = "@manifest";
    /// The hash of its key.
    pub const KEY: &str = "@key";
    /// The hash of a shard's lines before its last one.
    pub const LINES: &str = "@lines";
    /// The hash of the list of files.
    pub const FILES: &str = "@files";
    /// The hash of the text before it in `run.json`.
    pub const RUN: &str = "@run";
}

pub(super) fn run(data: &[u8]) {
    let mut parts = data.splitn(6, |&byte| byte == PART);
    let mut next = || parts.next().unwrap_or_default();
    let [run, manifest, first, second, files, stamps] =
        [next(), next(), next(), next(), next(), next()];
    let room = room().expect("disk space");
    let folder = room.path();
    write(folder, "manifest.ndjson.zst", manifest);
    let Ok(manifest) = Manifest::open(&folder.join("manifest.ndjson.zst")) else { return };
    saved(&manifest, folder);
    if manifest.shards() > MOST_SHARDS {
        return;
    }
    let (of_manifest, key) = (manifest.hash(), manifest.key().hash());
    let known =
        |text: &[u8]| filled(&filled(text, Hashes::MANIFEST, of_manifest), Hashes::KEY, key);
    fs::create_dir(folder.join("shards")).expect("disk space");
    for (name, lines) in [("shards/00000.ndjson.zst", first), ("shards/00001.ndjson.zst", second)] {
        write(folder, name, &shard(&known(lines)));
    }
    let files = if files.is_empty() { list(folder) } else { files.to_vec() };
    write(folder, "files.ndjson", &files);
    let run = filled(&known(run), Hashes::FILES, ContentHash::of(&files));
    write(folder, "run.json", &sealed(&run));
    write(folder, "stamps", &[stamps, ContentHash::of(stamps).as_bytes()].concat());
    self::stamps(folder, manifest.key());
    let known = status(&manifest, folder).expect("our own folder");
    match Store::open(folder) {
        Ok(store) => whole_shards(&store, &known),
        Err(error) => assert!(!matches!(error, Error::Io { .. }) || !error.may_pass(), "{error}"),
    }
}

/// A folder in memory, if the system has one in which this user may make folders.
fn room() -> io::Result<TempDir> {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir())
}

fn write(folder: &Path, name: &str, bytes: &[u8]) {
    fs::write(folder.join(name), bytes).expect("disk space");
}

/// Replaces a name by a hash everywhere in a text.
fn filled(text: &[u8], name: &str, hash: ContentHash) -> Vec<u8> {
    let hash = hash.to_string();
    let mut filled = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(place) = rest.windows(name.len()).position(|part| part == name.as_bytes()) {
        filled.extend_from_slice(&rest[..place]);
        filled.extend_from_slice(hash.as_bytes());
        rest = &rest[place + name.len()..];
    }
    filled.extend_from_slice(rest);
    filled
}

/// The list of the actual files of every store.
fn list(folder: &Path) -> Vec<u8> {
    let mut list = String::new();
    for name in ["manifest.ndjson.zst", "shards/00000.ndjson.zst", "shards/00001.ndjson.zst"] {
        let bytes = fs::read(folder.join(name)).expect("just written");
        let (size, hash) = (bytes.len(), ContentHash::of(&bytes));
        list += &format!("{{\"path\":\"{name}\",\"size\":{size},\"hash\":\"{hash}\"}}\n");
    }
    list.into_bytes()
}

/// `run.json` with the hash of its preceding text wherever the name of that hash occurs.
fn sealed(run: &[u8]) -> Vec<u8> {
    let name = Hashes::RUN.as_bytes();
    let place = run.windows(name.len()).position(|part| part == name).unwrap_or(run.len());
    filled(run, Hashes::RUN, ContentHash::of(&run[..place]))
}

/// A shard as it is stored.
fn shard(lines: &[u8]) -> Vec<u8> {
    let text: Vec<u8> = lines.iter().copied().filter(|&byte| byte != FRAME).collect();
    let before = text.strip_suffix(b"\n").unwrap_or(&text).iter().rposition(|&byte| byte == b'\n');
    let hash = ContentHash::of(before.map_or(&[], |end| &text[..=end]));
    let mut compressed = Vec::new();
    for frame in lines.split(|&byte| byte == FRAME) {
        let frame = filled(frame, Hashes::LINES, hash);
        compressed.extend(zstd::bulk::compress(&frame, 1).expect("to memory"));
    }
    compressed
}

/// Checks that a manifest stays the same when it is written and read again.
fn saved(manifest: &Manifest, folder: &Path) {
    let path = folder.join("copy");
    manifest.save(&path).expect("disk space");
    let copy = Manifest::open(&path).expect("just written");
    assert_eq!(copy.hash(), manifest.hash());
    assert_eq!((copy.key(), copy.inputs()), (manifest.key(), manifest.inputs()));
    assert_eq!((copy.items(), copy.without()), (manifest.items(), manifest.without()));
    assert_eq!(copy.shards(), manifest.shards());
    for shard in 0..copy.shards().min(MOST_SHARDS) {
        assert!(copy.items_of(shard).eq(manifest.items_of(shard)), "shard {shard}");
    }
}

/// Checks that another key never finds more stamps than the one with which they were made.
fn stamps(folder: &Path, key: &Key) {
    let Ok(stamps) = Stamps::load(folder, key) else { return };
    let other = Key { tool: format!("{} or later", key.tool), ..key.clone() };
    let of_other = Stamps::load(folder, &other).expect("read before");
    assert!(of_other.len() <= stamps.len());
    let metadata = fs::metadata(folder).expect("our own folder");
    assert!(stamps.find(&metadata).is_none() || !stamps.is_empty());
}

/// Checks that reading complete shards yields the results of an earlier scan.
fn whole_shards(store: &Store, known: &Status) {
    assert_eq!(&store.status().expect("our own folder"), known);
    let of_records = store.status_of_records().expect("our own folder");
    assert_eq!((&of_records.whole, &of_records.damaged), (&known.whole, &known.damaged));
    assert!(!known.is_sound() || of_records.is_sound());
    let counted = known.whole.len() + known.missing.len() + known.damaged.len();
    assert_eq!(counted, store.manifest().shards() as usize, "{known:?}");
    let key = store.manifest().key();
    let previous = Previous::open(store.folder(), key).expect("opened before");
    let mut hashed = 0;
    for &shard in &known.whole {
        // What the status calls whole, every reader reads.
        assert!(matches!(store.state(shard).expect("our own folder"), ShardState::Whole(_)));
        assert!(previous.unusable().iter().all(|unusable| unusable.shard != shard));
        let mut records: Vec<Vec<u8>> = Vec::new();
        let read = store.read(shard).expect("whole").each_line(|line| {
            let item = match line {
                ShardLine::Record { text, .. } => {
                    records.push(text.to_vec());
                    return Ok::<(), Error>(());
                }
                ShardLine::Item(item) => item,
            };
            let records = std::mem::take(&mut records);
            let Some(hash) = item.hash else { return Ok(()) };
            hashed += 1;
            let path = &store.manifest().items()[item.item as usize].path;
            let found = previous.find(path, &hash).expect("whole").expect("in a whole shard");
            assert_eq!((found.records, found.without), (records, item.without));
            Ok(())
        });
        read.expect("whole");
    }
    assert_eq!(previous.len(), hashed);
}
