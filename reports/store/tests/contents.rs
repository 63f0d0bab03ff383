//! Shards and descriptions with right hashes and wrong contents: whoever reads or writes a store applies the same rules.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod scan;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use scan::{compressed, content, decompressed, folder, shard_path, whole, without};
use serde_json::Value;
use sframe_store::{
    ContentHash, Counts, Error, Manifest, Previous, Remedy, Shard, ShardState, Status, Store,
};

const ITEMS: u32 = 20;

/// The text of a line, which begins with its type.
fn line(fields: &Value) -> String {
    let mut fields = fields.clone();
    let kind = fields.as_object_mut().and_then(|fields| fields.remove("type"));
    format!("{{\"type\":{},{}\n", kind.expect("a type"), &fields.to_string()[1..])
}

/// Replaces the lines of shard 0 by these, and makes a last line for them.
fn write(folder: &Path, lines: &[Value]) {
    let end = decompressed(&shard_path(folder, 0)).lines().next_back().map(serde_json::from_str);
    let mut end: Value = end.expect("a last line").expect("JSON");
    let text: String = lines.iter().map(line).collect();
    let of = |kind: &str| lines.iter().filter(|line| line["type"] == kind).count();
    end["items"] = of("item").into();
    end["records"] = of("file").into();
    end["hash"] = ContentHash::of(text.as_bytes()).to_string().into();
    fs::write(shard_path(folder, 0), compressed(&(text + &line(&end)))).expect("writable");
}

/// The lines of shard 0 without the last one.
fn lines(folder: &Path) -> Vec<Value> {
    let text = decompressed(&shard_path(folder, 0));
    let mut lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    lines.pop();
    lines
}

/// The place of the first line of this type.
fn first(lines: &[Value], kind: &str) -> usize {
    lines.iter().position(|line| line["type"] == kind).expect("such a line")
}

type Edit = fn(&mut Vec<Value>);

/// Wrong contents, and the beginning of the reason.
const WRONG: [(Edit, &str); 9] = [
    (|lines| record(lines)["code_bytes"] = (-1).into(), "line 2: the record cannot be read"),
    (|lines| record(lines)["status"] = "odd".into(), "line 2: the record cannot be read"),
    (|lines| record(lines)["path"] = "/etc/passwd".into(), "line 2: a record of \"/etc/passwd\""),
    (|lines| record(lines)["path_hex"] = "61".into(), "line 2: a record of \"usr/lib/lib1.so\""),
    (|lines| item(lines)["hash"] = content(99).to_string().into(), "line 1: item 0 has the hash"),
    (
        |lines| drop(item(lines).as_object_mut().map(|line| line.remove("without"))),
        "line 1: item 0 has neither a record",
    ),
    (|lines| item(lines)["records"] = 3.into(), "line 1: item 0 has 0 records"),
    (|lines| item(lines)["item"] = 1.into(), "line 1: item 1 is out of order"),
    (
        |lines| drop(lines.remove(0)),
        "line 1: a record of \"usr/lib/lib1.so\" among those of item 0",
    ),
];

fn record(lines: &mut [Value]) -> &mut Value {
    let place = first(lines, "file");
    &mut lines[place]
}

fn item(lines: &mut [Value]) -> &mut Value {
    let place = first(lines, "item");
    &mut lines[place]
}

#[test]
fn all_readers_refuse_the_same_shards() {
    let folder = folder("contents-wrong");
    let store = whole(&folder, ITEMS, 1);
    let sound = fs::read(shard_path(&folder, 0)).expect("readable");
    for (edit, reason) in WRONG {
        let mut changed = lines(&folder);
        edit(&mut changed);
        write(&folder, &changed);
        match store.state(0).expect("readable") {
            ShardState::Damaged(why) => assert!(why.starts_with(reason), "{why}"),
            other => panic!("{reason}: {other}"),
        }
        let status = store.status().expect("readable");
        assert_eq!((status.whole.len(), status.damaged[0].remedy), (0, Remedy::Scan), "{reason}");
        assert_eq!(store.status_of_records().expect("readable").damaged, status.damaged);
        let mut merging = Store::open(&folder).expect("a store");
        assert!(matches!(merging.merge(), Err(Error::Unmergeable(_))), "{reason}");
        let previous = Previous::open(&folder, &scan::key()).expect("a store");
        assert_eq!((previous.len(), previous.unusable().len()), (0, 1), "{reason}");
        assert!(matches!(store.begin(0), Ok(Shard::ToDo(_))), "{reason}");
        fs::write(shard_path(&folder, 0), &sound).expect("writable");
    }
    assert!(store.status().expect("readable").is_sound());
}

/// A shard of another version of this program may have records that this one cannot read. It is never overwritten.
#[test]
fn an_unreadable_shard_of_another_scan_is_foreign() {
    let (ours, theirs) = (folder("contents-ours"), folder("contents-theirs"));
    let store = Store::create(&ours, scan::manifest(ITEMS, 1)).expect("a store");
    whole(&theirs, ITEMS + 1, 1);
    let mut changed = lines(&theirs);
    record(&mut changed)["status"] = "odd".into();
    write(&theirs, &changed);
    fs::copy(shard_path(&theirs, 0), shard_path(&ours, 0)).expect("writable");
    assert!(matches!(store.state(0), Ok(ShardState::Foreign(_))));
    let status = store.status().expect("readable");
    assert_eq!(status.damaged[0].remedy, Remedy::MoveAwayAndScan);
}

#[test]
fn a_writer_refuses_what_readers_refuse() {
    let folder = folder("contents-writer");
    let store = Store::create(&folder, scan::manifest(1, 1)).expect("a store");
    let Ok(Shard::ToDo(mut writer)) = store.begin(0) else { panic!("a new shard") };
    for (record, why) in [
        (r#"{"type":"file","path":"usr/lib/lib0.so","status":"odd"}"#, "cannot be read"),
        (r#"{"type":"file","path":"usr/lib/lib0.so"}"#, "cannot be read"),
        (r#"{"type":"file","path":"usr/lib/lib1.so","status":"checked"}"#, "a record of"),
    ] {
        let error = writer.record(record.as_bytes()).expect_err(why);
        assert!(matches!(&error, Error::Usage(what) if what.contains(why)), "{error}");
    }
    let Ok(Shard::ToDo(mut writer)) = store.begin(0) else { panic!("a new shard") };
    let error = writer.item_done(0, None, Counts::default()).expect_err("nothing");
    assert!(error.to_string().contains("neither"), "{error}");
    let Ok(Shard::ToDo(mut writer)) = store.begin(0) else { panic!("a new shard") };
    assert!(writer.item_done(0, Some(content(1)), without(0)).is_err());
}

/// The names of the damaged files in a status, with their remedies.
fn named(status: &Status) -> Vec<(&str, Remedy)> {
    status.files.iter().map(|file| (&*file.file, file.remedy)).collect()
}

/// Replaces text of `run.json`, and computes its hash again.
fn describe(folder: &Path, from: &str, to: &str) {
    let path = folder.join("run.json");
    let text = fs::read_to_string(&path).expect("readable");
    assert!(text.contains(from), "{text}");
    let text = text.replace(from, to);
    let (before, _) = text.rsplit_once("\"hash\": \"").expect("a hash");
    let before = format!("{before}\"hash\": \"");
    let hash = ContentHash::of(before.as_bytes());
    fs::write(path, format!("{before}{hash}\"\n}}\n")).expect("writable");
}

#[test]
fn false_totals_and_inputs_are_found_and_mended() {
    let folder = folder("contents-totals");
    let mut store = whole(&folder, ITEMS, 2);
    let totals = store.merge().expect("whole").totals;
    let records = format!("\"records\": {}", totals.records);
    for (from, to) in [
        (&*records, "\"records\": 18446744073709551615"),
        ("\"not-elf\": 3", "\"not-elf\": 4"),
        ("\"path\": \"usr\"", "\"path\": \"etc\""),
        ("\"shards\": 2", "\"shards\": 3"),
        ("sframe-check 0.1.0", "sframe-check 0.2.0"),
    ] {
        describe(&folder, from, to);
        let store = Store::open(&folder).expect("a store");
        for status in [store.status(), store.status_of_records()] {
            let status = status.expect("readable");
            assert_eq!(named(&status), [("run.json", Remedy::Merge)], "{from}");
        }
        let mut store = Store::create(&folder, scan::manifest(ITEMS, 2)).expect("a store");
        assert_eq!(store.merge().expect("whole").totals, totals);
        assert!(store.status().expect("readable").is_sound(), "{from}");
    }
}

#[test]
fn links_are_no_files_of_a_store() {
    let (folder, elsewhere) = (folder("contents-links"), folder("contents-elsewhere"));
    whole(&folder, ITEMS, 1).merge().expect("whole");
    let manifest = || scan::manifest(ITEMS, 1);
    for name in [
        "run.json",
        "manifest.ndjson.zst",
        "files.ndjson",
        "shards",
        "tables",
        "shards/00000.ndjson.zst",
    ] {
        let (path, target) = (folder.join(name), elsewhere.join("target"));
        fs::rename(&path, &target).expect("writable");
        symlink(&target, &path).expect("writable");
        let status = sframe_store::status(&manifest(), &folder).expect("readable");
        assert!(!status.is_sound(), "{name}: {status}");
        assert!(status.to_string().contains("it is a link"), "{name}: {status}");
        let read = Store::open(&folder).and_then(|store| store.status_of_records());
        assert!(!read.is_ok_and(|status| status.is_sound()), "{name}");
        let merged = Store::create(&folder, manifest()).and_then(|mut store| store.merge());
        assert!(merged.is_err(), "{name}");
        fs::remove_file(&path).expect("a link");
        fs::rename(&target, &path).expect("writable");
        let status = sframe_store::status(&manifest(), &folder).expect("readable");
        assert!(status.is_sound(), "{name}: {status}");
    }
}

/// A manifest is the same whatever JSON tool has written it: with other spaces, escapes, orders and unknown fields.
#[test]
fn a_reformatted_manifest_is_of_the_same_scan() {
    let folder = folder("contents-manifest");
    let (plain, odd) = (folder.join("m"), folder.join("odd"));
    scan::manifest(ITEMS, 1).save(&plain).expect("writable");
    let text = fs::read_to_string(&plain).expect("readable");
    let changed = text.replace("\":", "\" : ").replace("usr/lib", "\\u0075sr\\/lib");
    let changed = changed.replace("\"shard\" :", "\"note\":[1],\"shard\" :");
    fs::write(&odd, changed).expect("writable");
    assert_eq!(Manifest::open(&odd).expect("a manifest"), scan::manifest(ITEMS, 1));
    // A store's own manifest, too, as long as it has no hash of the file.
    let store = folder.join("s");
    whole(&store, ITEMS, 1);
    fs::write(store.join("manifest.ndjson.zst"), fs::read(&odd).expect("readable")).expect("it");
    let mut store = Store::open(&store).expect("a store");
    store.merge().expect("whole");
    assert!(store.status().expect("readable").is_sound());
}
