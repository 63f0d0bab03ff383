//! Tests with a bucket in memory. The tests of the program use one on a server.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

use object_store::memory::InMemory;
use tempfile::TempDir;

use super::*;
use crate::{ContentHash, Counts, Item, Key, Manifest, Plan, Shard};

const PATHS: [&str; 3] = ["lib/a", "lib/b", "lib/c"];

fn manifest(tool: &str) -> Manifest {
    let hash = ContentHash::of(b"");
    let item = |path: &str| Item { path: path.into(), size: 1, hash: None };
    Manifest::plan(Plan {
        key: Key { tool: tool.to_owned(), rules: hash, options: hash },
        inputs: vec!["lib".into()],
        shards: 2,
        without: Counts::default(),
        items: PATHS.map(item).to_vec(),
    })
    .expect("a manifest")
}

fn bucket() -> Bucket {
    let name = ObjectPath::from("nights/one");
    Bucket::of(Box::new(InMemory::new()), name, "s3://b/nights/one".to_owned()).expect("a bucket")
}

/// A local store with all shards, whose records have this status.
fn copy(manifest: Manifest, status: &str) -> (TempDir, Store) {
    let folder = tempfile::tempdir().expect("disk space");
    let store = Store::create(folder.path(), manifest).expect("a store");
    for shard in 0..2 {
        let Shard::ToDo(mut writer) = store.begin(shard).expect("a shard") else {
            panic!("a new store");
        };
        while let Some(item) = writer.next_item() {
            let path = PATHS[item as usize];
            let record = format!(r#"{{"type":"file","path":"{path}","status":"{status}"}}"#);
            writer.record(record.as_bytes()).expect("a record");
            writer.item_done(item, None, Counts::default()).expect("it is next");
        }
        writer.finish().expect("a shard");
    }
    (folder, store)
}

fn object(bucket: &Bucket, name: &str) -> Vec<u8> {
    let name = ObjectPath::from(format!("nights/one/{name}"));
    let bytes = bucket.runtime.block_on(async { bucket.objects.get(&name).await?.bytes().await });
    bytes.expect("an object").to_vec()
}

fn place(bucket: &Bucket, name: &str, bytes: &[u8]) {
    let name = ObjectPath::from(format!("nights/one/{name}"));
    let put = bucket.objects.put(&name, bytes.to_vec().into());
    bucket.runtime.block_on(put).expect("an upload");
}

const FIRST: &str = "shards/00000.ndjson.zst";

#[test]
fn a_valid_shard_is_uploaded_once_and_never_replaced() {
    let bucket = bucket();
    let (_folder, store) = copy(manifest("one"), "no-section");
    assert!(matches!(bucket.put_shard(&store, 0), Ok(Finished::Written(_))));
    assert!(matches!(bucket.put_shard(&store, 0), Ok(Finished::There(_))));
    let bytes = object(&bucket, FIRST);
    assert_eq!(bytes, fs::read(layout::shard_path(store.folder(), 0)).expect("readable"));

    // Neither a shard with other contents nor a shard of another scan replaces it.
    let (_folder, other) = copy(manifest("one"), "not-elf");
    let error = bucket.put_shard(&other, 0).expect_err("another shard");
    assert!(matches!(&error, Error::Different { .. }), "{error}");
    assert!(
        error.to_string().starts_with(&format!("s3://b/nights/one/{FIRST} exists already")),
        "{error}"
    );
    let (_folder, other) = copy(manifest("two"), "no-section");
    let error = bucket.put_shard(&other, 0).expect_err("another scan");
    assert!(matches!(error, Error::Foreign { .. }), "{error}");
    assert_eq!(object(&bucket, FIRST), bytes);
}

#[test]
fn a_damaged_shard_is_replaced() {
    let bucket = bucket();
    let (_folder, store) = copy(manifest("one"), "no-section");
    let whole = fs::read(layout::shard_path(store.folder(), 0)).expect("readable");
    for damaged in [&whole[..whole.len() / 2], b"", b"<html>"] {
        place(&bucket, FIRST, damaged);
        assert!(matches!(bucket.put_shard(&store, 0), Ok(Finished::Written(_))));
        assert_eq!(object(&bucket, FIRST), whole);
    }
    // A shard that is damaged in the copy is not uploaded.
    fs::write(layout::shard_path(store.folder(), 1), b"half").expect("writable");
    assert!(matches!(bucket.put_shard(&store, 1), Err(Error::Damaged { .. })));
    place(&bucket, "shards/00001.ndjson.zst", b"as it was");
    assert_eq!(object(&bucket, "shards/00001.ndjson.zst"), b"as it was");
}

#[test]
fn a_bucket_is_fetched_and_a_merged_store_is_uploaded() {
    let bucket = bucket();
    let (_folder, store) = copy(manifest("one"), "no-section");
    bucket.put_shard(&store, 1).expect("an upload");
    place(&bucket, "shards/notes.txt", b"a stranger's");
    place(&bucket, "shards/deeper/00000.ndjson.zst", b"a stranger's");

    let fetched = tempfile::tempdir().expect("disk space");
    bucket.fetch(fetched.path()).expect("a bucket");
    let status = crate::status(store.manifest(), fetched.path()).expect("a copy");
    assert_eq!((status.missing, status.whole), (vec![0], vec![1]));
    assert_eq!(status.strange, ["deeper", "notes.txt"]);

    let bucket = self::bucket();
    (0..2).for_each(|shard| drop(bucket.put_shard(&store, shard).expect("an upload")));
    let copy = tempfile::tempdir().expect("disk space");
    bucket.fetch(copy.path()).expect("a bucket");
    let mut merged = Store::create(copy.path(), manifest("one")).expect("a store");
    merged.merge().expect("all shards");
    bucket.put_merged(&merged).expect("an upload");
    {
        let table = "tables/files/shard=00001/rows.parquet";
        assert_eq!(object(&bucket, table), fs::read(copy.path().join(table)).expect("readable"));
    }
    let again = tempfile::tempdir().expect("disk space");
    bucket.fetch(again.path()).expect("a bucket");
    let opened = Store::open(again.path()).expect("a store");
    assert_eq!(opened.run().totals.as_ref().map(|totals| totals.records), Some(3));
    assert!(opened.status().expect("readable").is_whole());
}

#[test]
fn an_address_without_bucket_or_name_is_refused() {
    for none in ["s3://", "s3://bucket", "s3://bucket/", "s3:///night", "night"] {
        let error = Bucket::new(Path::new(none)).expect_err("no address");
        assert!(matches!(error, Error::Usage(_)), "{error}");
    }
}

fn merged() -> (Bucket, TempDir) {
    let bucket = bucket();
    let (folder, mut store) = copy(manifest("one"), "no-section");
    (0..2).for_each(|shard| drop(bucket.put_shard(&store, shard).expect("an upload")));
    store.merge().expect("all shards");
    bucket.put_merged(&store).expect("an upload");
    (bucket, folder)
}

/// A fresh copy of everything in the bucket, and its status.
fn fetched(bucket: &Bucket) -> (TempDir, crate::Status) {
    let copy = tempfile::tempdir().expect("disk space");
    bucket.fetch(copy.path()).expect("a bucket");
    bucket.fetch_tables(copy.path()).expect("a bucket");
    let status = crate::status(&manifest("one"), copy.path()).expect("a copy");
    (copy, status)
}

/// Each object of a complete store is changed, truncated and deleted in turn; then objects are added.
#[test]
fn damaged_objects_are_reported() {
    let (bucket, folder) = merged();
    assert!(fetched(&bucket).1.is_sound());
    let files: Vec<PathBuf> = files::files_below(folder.path()).expect("readable");
    assert!(files.len() >= 5, "{files:?}");
    for path in &files {
        let name = files::name_of(folder.path(), path);
        let sound = fs::read(path).expect("readable");
        let mut changed = sound.clone();
        changed[sound.len() / 2] ^= 2;
        for bytes in [Some(&changed[..]), Some(&sound[..sound.len() - 1]), None] {
            let object = ObjectPath::from(format!("nights/one/{name}"));
            match bytes {
                Some(bytes) => place(&bucket, &name, bytes),
                None => bucket.runtime.block_on(bucket.objects.delete(&object)).expect("deleted"),
            }
            let status = fetched(&bucket).1;
            let shard = layout::shard_of(name.trim_start_matches("shards/"));
            let named = status.damaged.iter().any(|damaged| Some(damaged.shard) == shard)
                || status.missing.iter().any(|&missing| Some(missing) == shard)
                || status.files.iter().any(|file| file.file == name);
            assert!(named && !status.is_sound(), "{name}: {status}");
        }
        place(&bucket, &name, &sound);
    }
    assert!(fetched(&bucket).1.is_sound());

    for name in ["notes", "more/notes", "tables/files/shard=00000/more.parquet"] {
        place(&bucket, name, b"a stranger's");
    }
    let status = fetched(&bucket).1;
    let names: Vec<&str> = status.files.iter().map(|file| file.file.as_str()).collect();
    assert_eq!(names, ["tables/files/shard=00000/more.parquet", "more", "notes"]);
    // Merging removes tables of other shards, which readers would read together with the store's, and nothing else.
    place(&bucket, "tables/files/shard=00007/rows.parquet", b"of another plan");
    let (copy, _) = fetched(&bucket);
    let mut store = Store::open(copy.path()).expect("a store");
    // What nobody planned is the stranger's, and has to be moved away first.
    assert!(matches!(store.merge(), Err(Error::NotOurs { .. })));
    fs::remove_file(copy.path().join("tables/files/shard=00000/more.parquet")).expect("a file");
    store.merge().expect("all shards");
    bucket.put_merged(&store).expect("an upload");
    let status = fetched(&bucket).1;
    let names: Vec<&str> = status.files.iter().map(|file| file.file.as_str()).collect();
    assert_eq!(names, ["tables/files/shard=00000/more.parquet", "more", "notes"]);
}

#[test]
fn oversized_objects_are_not_fetched() {
    let (mut bucket, _folder) = merged();
    assert_eq!(bucket.largest, 5 * 1024 * 1024 * 1024);
    let run = vec![b' '; Run::LONGEST + 1];
    place(&bucket, "run.json", &run);
    let copy = tempfile::tempdir().expect("disk space");
    let error = bucket.fetch(copy.path()).expect_err("too large").to_string();
    assert_eq!(
        error,
        "s3://b/nights/one/run.json is damaged: it has 16777217 bytes, allowed: 16777216"
    );
    place(&bucket, "run.json", &run[1..]);
    bucket.fetch(copy.path()).expect("the largest allowed size");

    bucket.largest = 9_999;
    for name in [FIRST, "manifest.ndjson.zst", "files.ndjson"] {
        let (sound, large) = (object(&bucket, name), [0; 10_000]);
        place(&bucket, name, &large);
        let copy = tempfile::tempdir().expect("disk space");
        let error = bucket.fetch(copy.path()).expect_err("too large");
        assert!(matches!(&error, Error::Damaged { .. }), "{error}");
        assert!(error.to_string().contains(&format!("{name} is damaged: it has 10000 bytes")));
        assert!(!copy.path().join(name).exists());
        place(&bucket, name, &sound);
    }
}
