//! Damage in complete stores: any changed byte, and any missing or additional file, is reported with the file's name.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod scan;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use scan::{folder, whole};
use sframe_store::{
    Error, Known, Previous, Remedy, ShardState, Stamps, StampsWriter, Status, Store, status,
};

const ITEMS: u32 = 40;
const SHARDS: u32 = 2;
/// The number of places in which a larger file is changed.
const PLACES: usize = 32;

fn complete(name: &str) -> PathBuf {
    let folder = folder(name);
    whole(&folder, ITEMS, SHARDS).merge().expect("all shards");
    folder
}

/// The bytes of every file, by its path in the store.
fn files(store: &Path) -> BTreeMap<String, Vec<u8>> {
    let (mut files, mut folders) = (BTreeMap::new(), vec![store.to_owned()]);
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).expect("readable") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(store).expect("in it").display().to_string();
                files.insert(name, fs::read(path).expect("readable"));
            }
        }
    }
    files
}

fn state(store: &Path) -> Status {
    status(&scan::manifest(ITEMS, SHARDS), store).expect("readable")
}

/// The files that a status names as damaged.
fn named(status: &Status) -> BTreeSet<String> {
    let shard = |shard: &u32| format!("shards/{shard:05}.ndjson.zst");
    let damaged = status.damaged.iter().map(|damaged| shard(&damaged.shard));
    let files = status.files.iter().map(|damaged| damaged.file.clone());
    let strange = status.strange.iter().map(|name| format!("shards/{name}"));
    let missing = status.missing.iter().map(shard);
    damaged.chain(files).chain(strange).chain(missing).collect()
}

/// The offsets at which a file is changed: all in files that contain hashes of others; in other files, evenly spaced
/// ones and those of the last bytes.
fn places(name: &str, length: usize) -> Vec<usize> {
    let step = if name.contains('/') { (length / PLACES).max(1) } else { 1 };
    (0..length).step_by(step).chain(length.saturating_sub(9)..length).collect()
}

#[test]
fn any_changed_byte_is_reported() {
    let store = complete("damage-bytes");
    let mut changes = 0;
    for (name, sound) in files(&store) {
        let path = store.join(&name);
        for place in places(&name, sound.len()) {
            let mut bytes = sound.clone();
            bytes[place] ^= 1 << (place % 8);
            fs::write(&path, bytes).expect("writable");
            let status = state(&store);
            let expected = BTreeSet::from([name.clone()]);
            assert_eq!(named(&status), expected, "{name} at {place}: {status}");
            assert!(!status.is_sound());
            changes += 1;
        }
        fs::write(&path, sound).expect("writable");
    }
    // 2 shards with 6 tables each, and every byte of the manifest, the list of files and run.json.
    assert!(changes > 14 * PLACES + 2000, "{changes}");
    assert!(state(&store).is_sound());
}

/// Damaged versions of a file: deleted, empty, extended, and truncated to several lengths.
fn damages(sound: &[u8]) -> Vec<Option<Vec<u8>>> {
    let mut damages = vec![None, Some(Vec::new()), Some([sound, b"\n"].concat())];
    let lengths = [1, sound.len() / 3, sound.len() / 2, sound.len() - 1];
    damages.extend(lengths.map(|length| Some(sound[..length].to_vec())));
    damages
}

fn damage(path: &Path, damage: Option<&[u8]>) {
    match damage {
        Some(bytes) => fs::write(path, bytes).expect("writable"),
        None => fs::remove_file(path).expect("removable"),
    }
}

#[test]
fn truncated_extended_and_missing_files_are_reported_and_restored() {
    let store = complete("damage-files");
    let before = files(&store);
    for (name, sound) in &before {
        let path = store.join(name);
        for bytes in damages(sound) {
            damage(&path, bytes.as_deref());
            let case = format!("{name}, {:?}", bytes.as_ref().map(Vec::len));
            let status = state(&store);
            assert_eq!(named(&status), BTreeSet::from([name.clone()]), "{case}: {status}");

            let merged = Store::create(&store, scan::manifest(ITEMS, SHARDS))
                .and_then(|mut store| store.merge());
            match merged {
                Ok(merged) => {
                    let found: Vec<_> = merged.found.iter().map(|found| &*found.file).collect();
                    assert_eq!(found, [name], "{case}");
                    assert!(!name.starts_with("shards/"), "{case}");
                }
                // Shards have to be scanned again.
                Err(Error::Unmergeable(status)) => {
                    assert!(name.starts_with("shards/"), "{case}: {status}");
                    fs::write(&path, sound).expect("writable");
                }
                // Without run.json, it is unknown which scan the store belongs to.
                Err(error) => {
                    assert_eq!(name, "run.json");
                    assert!(error.to_string().contains("/run.json"), "{error}");
                    fs::write(&path, sound).expect("writable");
                }
            }
            assert!(files(&store) == before, "{case}");
            assert!(state(&store).is_sound(), "{case}");
        }
    }
}

#[test]
fn additional_files_are_reported() {
    let store = complete("damage-surplus");
    let before = files(&store);
    for (name, remedy) in [
        ("notes", Some(Remedy::MoveAway)),
        ("tables/notes", Some(Remedy::MoveAway)),
        ("tables/files/shard=00000/more.parquet", Some(Remedy::MoveAway)),
        ("tables/files/shard=00002/rows.parquet", Some(Remedy::Merge)),
        ("shards/00002.ndjson.zst", None),
        ("shards/notes", None),
    ] {
        let path = store.join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("writable");
        fs::write(&path, "").expect("writable");
        let status = state(&store);
        assert_eq!(named(&status), BTreeSet::from([name.to_owned()]));
        assert_eq!(status.files.first().map(|file| file.remedy), remedy);
        let merged = Store::open(&store).and_then(|mut store| store.merge());
        assert_eq!(merged.is_ok(), remedy.is_some(), "{name}");
        if remedy != Some(Remedy::Merge) {
            fs::remove_file(&path).expect("removable");
        }
        assert!(files(&store) == before, "{name}");
        assert!(state(&store).is_sound(), "{name}");
    }
}

/// This is how `compare` and `--previous` read stores.
#[test]
fn readers_verify_what_they_read() {
    let folder = complete("damage-readers");
    let key = scan::key();
    for (name, sound) in files(&folder) {
        let path = folder.join(&name);
        for place in places("a/b", sound.len()) {
            let mut bytes = sound.clone();
            bytes[place] ^= 0x10;
            fs::write(&path, bytes).expect("writable");
            let (opened, previous) = (Store::open(&folder), Previous::open(&folder, &key));
            let case = format!("{name} at {place}");
            if !name.contains('/') {
                for error in [opened.expect_err(&case), previous.expect_err(&case)] {
                    assert!(error.to_string().contains(&name), "{case}: {error}");
                }
                continue;
            }
            let (opened, previous) = (opened.expect(&case), previous.expect(&case));
            let states: Vec<ShardState> =
                (0..SHARDS).map(|shard| opened.state(shard).expect("readable")).collect();
            for (shard, state) in (0..).zip(&states) {
                let damaged = name == format!("shards/{shard:05}.ndjson.zst");
                assert_eq!(matches!(state, ShardState::Damaged(_)), damaged, "{case}");
                let read = opened.read(shard).and_then(|reader| reader.each_line(|_| Ok(())));
                assert_eq!(read.is_err(), damaged, "{case}");
                let unusable = previous.unusable().iter().any(|unusable| unusable.shard == shard);
                assert_eq!(unusable, damaged, "{case}");
            }
        }
        fs::write(&path, sound).expect("writable");
    }
    fs::remove_file(folder.join("shards/00001.ndjson.zst")).expect("removable");
    let previous = Previous::open(&folder, &key).expect("a store");
    assert_eq!(previous.unusable().iter().map(|shard| shard.shard).collect::<Vec<_>>(), [1]);
}

/// Scanning the shard again yields the same bytes.
#[test]
fn rescanning_a_damaged_shard_repairs_the_store() {
    let folder = complete("damage-again");
    let before = files(&folder);
    let path = scan::shard_path(&folder, 1);
    fs::write(&path, b"rot").expect("writable");
    let mut store = Store::open(&folder).expect("a store");
    assert!(scan::write(&store, 1).expect("a shard").is_some());
    assert!(state(&folder).is_sound());
    // If a file has the same lines but other bytes (from another zstd level), merging records its new hash.
    fs::write(&path, scan::compressed(&scan::decompressed(&path))).expect("writable");
    assert_eq!(named(&state(&folder)), BTreeSet::from(["shards/00001.ndjson.zst".to_owned()]));
    assert_eq!(store.merge().expect("all shards").found.len(), 1);
    assert!(state(&folder).is_sound());
    assert!(files(&folder) != before);
}

#[test]
fn intact_stores_are_not_reported() {
    let folder = folder("damage-none");
    let mut stamps = StampsWriter::start(&folder, &scan::key()).expect("writable");
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    stamps.note(&fs::metadata(sources).expect("it exists"), Known::Without("not-elf"));
    let mut store = whole(&folder, ITEMS, SHARDS);
    assert!(state(&folder).is_sound(), "not complete");
    store.merge().expect("all shards");
    stamps.save().expect("writable");
    let journal = store.journal(0).expect("writable");
    fs::write(folder.join(".DS_Store"), "").expect("writable");
    fs::write(folder.join("tables/files/.nfs01"), "").expect("writable");
    assert!(state(&folder).is_sound(), "{}", state(&folder));
    drop(journal);

    // A copy is intact as well, also after resuming its scan.
    let copy = self::folder("damage-copied");
    for (name, bytes) in files(&folder) {
        fs::create_dir_all(copy.join(&name).parent().expect("a folder")).expect("writable");
        fs::write(copy.join(name), bytes).expect("writable");
    }
    assert!(state(&copy).is_sound());
    let before = files(&copy);
    let resumed = Store::create(&copy, scan::manifest(ITEMS, SHARDS)).expect("a store");
    assert!((0..SHARDS).all(|shard| scan::write(&resumed, shard).expect("it exists").is_none()));
    let merged = Store::open(&copy).and_then(|mut store| store.merge()).expect("complete");
    assert!(merged.found.is_empty() && files(&copy) == before);

    // Stamps are not part of the results, and have their own hash.
    let stamps = copy.join("stamps");
    let mut bytes = fs::read(&stamps).expect("saved");
    bytes[40] ^= 1;
    fs::write(&stamps, bytes).expect("writable");
    assert_eq!(named(&state(&copy)), BTreeSet::from(["stamps".to_owned()]));
    let error = Stamps::load(&copy, &scan::key()).expect_err("damaged");
    assert!(error.to_string().contains("/stamps"), "{error}");

    // 1 TB, which takes no space.
    fs::File::create(&stamps).and_then(|file| file.set_len(1 << 40)).expect("writable");
    let error = Stamps::load(&copy, &scan::key()).expect_err("too long");
    assert!(error.to_string().contains("/stamps"), "{error}");
    fs::remove_file(stamps).expect("removable");
    assert!(state(&copy).is_sound());
}

/// An old development version of 0.1.0 wrote neither `files` and `hash` in `run.json` nor the list of files.
#[test]
fn stores_without_hashes_are_read_and_get_them() {
    let folder = complete("damage-old");
    let before = files(&folder);
    let text = String::from_utf8(before["run.json"].clone()).expect("UTF-8");
    let (old, _) = text.split_once(",\n  \"files\"").expect("the hash of the list");
    fs::write(folder.join("run.json"), format!("{old}\n}}\n")).expect("writable");
    fs::remove_file(folder.join("files.ndjson")).expect("removable");
    let status = state(&folder);
    assert_eq!((status.complete, status.hashes, status.is_sound()), (true, false, true));
    assert!(status.to_string().contains("no hashes of its files"), "{status}");
    let mut store = Store::open(&folder).expect("a store");
    assert!(store.lacks_hashes());
    assert!(matches!(store.state(1), Ok(ShardState::Whole(_))));
    assert!(Previous::open(&folder, &scan::key()).expect("a store").lacks_hashes());
    // The manifest is still verified, because run.json has its hash.
    fs::write(folder.join("manifest.ndjson.zst"), "").expect("writable");
    assert_eq!(named(&state(&folder)), BTreeSet::from(["manifest.ndjson.zst".to_owned()]));
    store.merge().expect("all shards");
    assert!(files(&folder) == before);
    assert!(state(&folder).hashes);
}
