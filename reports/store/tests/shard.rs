//! Shards: their text, the detection of damaged, foreign and malicious ones, and concurrent writers.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod scan;

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Barrier;

use scan::{compressed, content, decompressed, folder, shard_path, whole, without, write};
use sframe_record::Record;
use sframe_store::{
    ContentHash, Counts, Error, Finished, Item, Manifest, Shard, ShardLine, ShardState,
    ShardWriter, Store,
};

fn to_do(store: &Store, shard: u32) -> Box<ShardWriter<'_>> {
    match store.begin(shard) {
        Ok(Shard::ToDo(writer)) => writer,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_shard_has_the_documented_text() {
    let folder = folder("shard-text");
    let item = |path: &str| Item { path: path.into(), size: 1, hash: None };
    let items = vec![item("a"), item("b")];
    let manifest = Manifest::plan(scan::plan(items, 1)).expect("a plan");
    let store = Store::create(&folder, manifest).expect("a store");
    let mut writer = to_do(&store, 0);
    let record = r#"{"type":"file","path":"a","status":"checked","odd":[1.50,"ü"]}"#;
    writer.record(record.as_bytes()).expect("a record");
    writer.item_done(0, Some(content(1)), Counts::default()).expect("the first item");
    writer.item_done(1, None, without(0)).expect("the second item");
    assert!(!shard_path(&folder, 0).exists());
    writer.finish().expect("a shard");
    let lines = format!(
        r#"{record}
{{"type":"item","item":0,"hash":"{}","records":1}}
{{"type":"item","item":1,"records":0,"without":{{"not-elf":1}}}}
"#,
        content(1)
    );
    let (hash, manifest) = (ContentHash::of(lines.as_bytes()), store.manifest().hash());
    let key = store.manifest().key().hash();
    let end = format!(
        r#"{{"type":"end","format":1,"manifest":"{manifest}","key":"{key}","shard":0,"items":2,"records":1,"without":{{"not-elf":1}},"hash":"{hash}"}}
"#
    );
    assert_eq!(decompressed(&shard_path(&folder, 0)), lines + &end);
}

#[test]
fn the_same_scan_writes_the_same_bytes_once() {
    let (one, two) = (folder("shard-same-1"), folder("shard-same-2"));
    let (first, second) = (whole(&one, 500, 3), whole(&two, 500, 3));
    for shard in 0..3 {
        let bytes = fs::read(shard_path(&one, shard)).expect("readable");
        assert!(bytes == fs::read(shard_path(&two, shard)).expect("readable"));
        let before = fs::metadata(shard_path(&one, shard)).expect("it exists");
        assert!(matches!(first.begin(shard), Ok(Shard::There(totals)) if totals.items > 100));
        assert_eq!(write(&first, shard).expect("it exists"), None);
        let after = fs::metadata(shard_path(&one, shard)).expect("it exists");
        assert_eq!((before.ino(), before.mtime_nsec()), (after.ino(), after.mtime_nsec()));
    }
    assert!(first.begin(3).is_err_and(|error| matches!(error, Error::Usage(_))));
    drop(second);
}

/// A reader returns the records of an item unchanged, before the item.
#[test]
fn a_reader_returns_the_written_records() {
    let folder = folder("shard-read");
    let store = whole(&folder, 300, 2);
    let (mut seen, mut records) = (0, Vec::new());
    for shard in 0..2 {
        let reader = store.read(shard).expect("it exists");
        let totals = reader.each_line(|line| {
            match line {
                ShardLine::Record { text, record } => {
                    assert_eq!(
                        Record::parse(str::from_utf8(text).expect("text")).ok(),
                        Some(*record)
                    );
                    records.push(text.to_vec());
                }
                ShardLine::Item(item) => {
                    let expected: Vec<Vec<u8>> =
                        scan::records(item.item).into_iter().map(String::into_bytes).collect();
                    assert_eq!(std::mem::take(&mut records), expected);
                    assert_eq!(item.hash, Some(content(item.item)));
                    assert_eq!(item.without, without(item.item));
                    seen += 1;
                }
            }
            Ok::<(), Error>(())
        });
        assert_eq!(totals.expect("whole").items, 150);
    }
    assert_eq!(seen, 300);
}

#[test]
fn any_damage_is_reported() {
    let folder = folder("shard-damage");
    let store = whole(&folder, 12, 1);
    let path = shard_path(&folder, 0);
    let sound = fs::read(&path).expect("readable");
    let lines = zstd::decode_all(&*sound).expect("zstd");
    let state = |bytes: &[u8]| {
        fs::write(&path, bytes).expect("writable");
        store.state(0).expect("readable")
    };
    for length in 0..sound.len() {
        assert!(matches!(state(&sound[..length]), ShardState::Damaged(_)), "{length} bytes");
    }
    for place in 0..sound.len() {
        for bit in [0, 3, 7] {
            let mut bytes = sound.clone();
            bytes[place] ^= 1 << bit;
            match state(&bytes) {
                ShardState::Damaged(_) => {}
                // Some bits of zstd's format have no meaning (RFC 8878), so changing them does not change the lines.
                _ => assert!(zstd::decode_all(&*bytes).is_ok_and(|text| text == lines)),
            }
        }
    }
    // Changes of the uncompressed text are reported too.
    let text = String::from_utf8(lines).expect("UTF-8");
    for place in (0..text.len()).step_by(3) {
        let mut bytes = text.clone().into_bytes();
        bytes[place] ^= 2;
        let state = state(&compressed(&String::from_utf8_lossy(&bytes)));
        assert!(!matches!(state, ShardState::Whole(_) | ShardState::Absent), "{place}: {state}");
    }
    let all: Vec<&str> = text.lines().collect();
    for left_out in 0..all.len() {
        let rest = [&all[..left_out], &all[left_out + 1..]].concat().join("\n") + "\n";
        assert!(matches!(state(&compressed(&rest)), ShardState::Damaged(_)), "line {left_out}");
        let twice = [&all[..=left_out], &all[left_out..]].concat().join("\n") + "\n";
        assert!(matches!(state(&compressed(&twice)), ShardState::Damaged(_)), "line {left_out}");
    }
    assert!(matches!(state(&sound), ShardState::Whole(_)));
    // A damaged shard is written again.
    fs::write(&path, &sound[..sound.len() / 2]).expect("writable");
    assert!(matches!(write(&store, 0), Ok(Some(Finished::Written(_)))));
    assert!(fs::read(&path).expect("readable") == sound);
    fs::remove_file(&path).expect("removable");
    fs::create_dir(&path).expect("writable");
    assert_eq!(
        store.state(0).expect("it exists"),
        ShardState::Damaged("it is not a regular file".to_owned())
    );
}

/// Valid shards of other scans are distinguished from damaged ones, and never overwritten.
#[test]
fn shards_of_other_scans_are_refused() {
    let (ours, theirs) = (folder("shard-ours"), folder("shard-theirs"));
    let store = Store::create(&ours, scan::manifest(40, 2)).expect("a store");
    let mut plan = scan::plan(scan::items(40), 2);
    plan.key.tool.push('1');
    let other = Store::create(&theirs, Manifest::plan(plan).expect("a plan")).expect("a store");
    write(&other, 0).expect("a shard");
    write(&store, 1).expect("a shard");
    for (from, what) in [(shard_path(&theirs, 0), "manifest"), (shard_path(&ours, 1), "number")] {
        let path = shard_path(&ours, 0);
        fs::copy(&from, &path).expect("writable");
        match store.state(0).expect("readable") {
            ShardState::Foreign(reason) => assert!(reason.contains(what), "{reason}"),
            other => panic!("{other}"),
        }
        assert!(store.begin(0).is_err_and(|error| matches!(error, Error::Foreign { .. })));
        let bytes = fs::read(&path).expect("readable");
        fs::remove_file(&path).expect("removable");
        // A foreign shard appears while ours is being written.
        let mut writer = to_do(&store, 0);
        while let Some(item) = writer.next_item() {
            writer.item_done(item, None, without(0)).expect("an item");
        }
        fs::write(&path, &bytes).expect("writable");
        let error = writer.finish().expect_err("it is taken");
        assert!(matches!(error, Error::Foreign { .. }) && !error.may_pass(), "{error}");
        assert!(fs::read(&path).expect("readable") == bytes);
    }
    // The last line also has the key, independently of the manifest.
    let text = decompressed(&shard_path(&ours, 1));
    let key = store.manifest().key().hash().to_string();
    let changed = text.replace(&key, &ContentHash::of(b"").to_string());
    fs::write(shard_path(&ours, 1), compressed(&changed)).expect("writable");
    assert!(matches!(store.state(1), Ok(ShardState::Foreign(why)) if why.contains("key")));
}

#[test]
fn a_writer_accepts_records_and_items_only_in_order() {
    let folder = folder("shard-order");
    let store = Store::create(&folder, scan::manifest(3, 1)).expect("a store");
    let mut writer = to_do(&store, 0);
    for record in [r#"{"path":"a"}"#, "{\"type\":\"file\",\n}", ""] {
        assert!(writer.record(record.as_bytes()).is_err(), "{record}");
    }
    assert!(writer.item_done(1, None, without(0)).is_err());
    writer.item_done(0, None, without(0)).expect("it is next");
    assert!(writer.item_done(0, None, without(0)).is_err());
    let error = writer.finish().expect_err("two are missing");
    assert!(error.to_string().contains("item 1 is next"), "{error}");
    let mut writer = to_do(&store, 0);
    (0..3).for_each(|item| writer.item_done(item, None, without(0)).expect("it is next"));
    assert!(writer.record(br#"{"type":"file","path":"a","status":"checked"}"#).is_err());
    assert!(writer.finish().is_err());
    let left: Vec<_> = fs::read_dir(folder.join("shards")).expect("it exists").collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn only_one_of_two_writers_writes_the_shard() {
    let folder = folder("shard-two");
    let manifest = scan::manifest(50, 40);
    let together = Barrier::new(2);
    let work = || {
        let store = Store::create(&folder, manifest.clone()).expect("a store");
        let finish = |shard| {
            let mut writer = to_do(&store, shard);
            while let Some(item) = writer.next_item() {
                scan::records(item).iter().for_each(|r| writer.record(r.as_bytes()).expect("it"));
                writer.item_done(item, Some(content(item)), without(item)).expect("it is next");
            }
            together.wait();
            writer.finish().expect("a shard")
        };
        (0..40).map(finish).collect::<Vec<Finished>>()
    };
    let (one, two) = std::thread::scope(|scope| {
        let (one, two) = (scope.spawn(work), scope.spawn(work));
        (one.join().expect("no panic"), two.join().expect("no panic"))
    });
    for (shard, pair) in one.iter().zip(&two).enumerate() {
        let written = matches!(pair.0, Finished::Written(_)) as u8;
        assert_eq!(written + matches!(pair.1, Finished::Written(_)) as u8, 1, "shard {shard}");
    }
    assert!(Store::open(&folder).expect("a store").status().expect("readable").is_whole());
}

#[test]
fn a_shard_with_other_contents_is_never_overwritten() {
    let folder = folder("shard-different");
    let store = Store::create(&folder, scan::manifest(5, 1)).expect("a store");
    let mut late = to_do(&store, 0);
    write(&store, 0).expect("a shard");
    let bytes = fs::read(shard_path(&folder, 0)).expect("readable");
    (0..5).for_each(|item| late.item_done(item, None, without(0)).expect("it is next"));
    let error = late.finish().expect_err("it is taken");
    assert!(matches!(error, Error::Different { .. }) && !error.may_pass(), "{error}");
    assert!(fs::read(shard_path(&folder, 0)).expect("readable") == bytes);
}

/// Small frames that decompress to more data than a store contains. None is kept in memory as a whole.
#[test]
fn bombs_are_refused() {
    let folder = folder("shard-bombs");
    let store = Store::create(&folder, scan::manifest(1, 1)).expect("a store");
    let path = shard_path(&folder, 0);
    let refused = |bytes: &[u8], why: &str| {
        fs::write(&path, bytes).expect("writable");
        match store.state(0).expect("readable") {
            ShardState::Damaged(reason) => assert!(reason.contains(why), "{reason}"),
            other => panic!("{other}"),
        }
    };
    let zeros = zstd::encode_all(std::io::Read::take(std::io::repeat(0), 300 << 20), 3);
    refused(&zeros.expect("memory"), "more data than a store contains");
    // Valid records, but too many of them for the size of the file.
    let record = format!("{{\"type\":\"file\",\"x\":\"{}\"}}\n", "a".repeat(1 << 20));
    refused(&compressed(&record).repeat(200), "more data than a store contains");
    let deep = format!("{{\"type\":\"item\",\"item\":{}", "[".repeat(30_000));
    refused(&compressed(&format!("{deep}\n")), "recursion limit");
    let wide = format!("{{\"type\":\"end\",\"x\":[{}", "0,".repeat(50_000));
    refused(&compressed(&format!("{wide}\n")), "allowed: at most 65536");
    // A window of 128 MiB, which a reader would have to hold in memory.
    let mut encoder = zstd::stream::Encoder::new(Vec::new(), 3).expect("memory");
    encoder.window_log(27).expect("a window");
    std::io::Write::write_all(&mut encoder, record.as_bytes()).expect("memory");
    refused(&encoder.finish().expect("memory"), "too much memory");
}

#[test]
fn files_of_dead_writers_are_removed_and_those_of_live_ones_kept() {
    let folder = folder("shard-leftovers");
    let store = Store::create(&folder, scan::manifest(5, 1)).expect("a store");
    let live = to_do(&store, 0);
    let shards = folder.join("shards");
    let dead = shards.join(".writing-deadab.tmp");
    fs::write(&dead, "half").expect("writable");
    let names = || fs::read_dir(&shards).expect("it exists").count();
    assert_eq!(names(), 2);
    drop(Store::create(&folder, scan::manifest(5, 1)).expect("a store"));
    assert!(!dead.exists());
    assert_eq!(names(), 1);
    drop(live);
    assert_eq!(names(), 0);
    assert!(Path::new(&folder).join("run.json").exists());
}
