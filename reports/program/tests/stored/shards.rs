//! Plans, shards and their merging: what an engine relies on.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::{folder, golden_tree, plain_records, records, told};

fn planned(name: &str) -> std::path::PathBuf {
    let folder = folder(name);
    golden_tree(&folder.join("tree"));
    let (status, _, error) = told(&folder, &["plan", "tree", "--shards", "3", "-o", "m"]);
    assert_eq!(status, 0, "{error}");
    folder
}

fn scan(folder: &Path, shard: &str, store: &str) -> i32 {
    told(folder, &["scan", "--manifest", "m", "--shard", shard, "--store", store]).0
}

#[test]
fn shards_in_any_order_say_what_one_scan_does() {
    let folder = planned("any-order");
    for shard in ["2", "0", "1", "0"] {
        assert_eq!(scan(&folder, shard, "store"), 0);
    }
    assert_eq!(told(&folder, &["merge", "--manifest", "m", "--store", "store"]).0, 0);
    // The manifest has whole paths: shards are checked wherever their process runs.
    let tree = folder.join("tree");
    let tree = tree.to_str().expect("UTF-8");
    let (stored, plain) = (records(&folder.join("store")), plain_records(&folder, tree));
    assert!(plain.len() >= 9, "{} files", plain.len());
    assert!(stored.keys().eq(plain.keys()));
    for (name, record) in &stored {
        let expected = &plain[name];
        for field in ["status", "counts", "coverage", "sections", "code_bytes", "producers"] {
            assert_eq!(record[field], expected[field], "{name}: {field}");
        }
    }
    let run = fs::read_to_string(folder.join("store/run.json")).expect("run.json");
    let run: Value = serde_json::from_str(&run).expect("JSON");
    assert_eq!(
        (&run["state"], &run["totals"]["without"]["not-elf"]),
        (&"complete".into(), &1.into())
    );
}

#[test]
fn a_shard_is_the_same_bytes_wherever_it_is_made() {
    let folder = planned("same-bytes");
    for shard in ["0", "1", "2"] {
        assert_eq!((scan(&folder, shard, "one"), scan(&folder, shard, "two")), (0, 0));
        let bytes = |store| fs::read(folder.join(format!("{store}/shards/0000{shard}.ndjson.zst")));
        assert_eq!(bytes("one").expect("a shard"), bytes("two").expect("a shard"));
    }
}

/// BLAKE3 of the planned files as `b3sum` prints it is not to be had everywhere: a file of no bytes
/// has the hash that its authors publish.
#[test]
fn a_manifest_names_each_file_with_its_hash() {
    let folder = planned("hashes");
    let manifest = fs::read_to_string(folder.join("m")).expect("a manifest");
    let items =
        manifest.lines().skip(1).map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    for item in items {
        let bytes = fs::read(folder.join(item["path"].as_str().expect("a path"))).expect("a file");
        assert_eq!(item["size"], bytes.len());
        assert_eq!(item["hash"], blake3::hash(&bytes).to_hex().as_str());
    }
}

#[test]
fn statuses_tell_an_engine_what_to_do() {
    let folder = planned("statuses");
    let status = |arguments: &[&str]| told(&folder, arguments).0;
    let asked = ["status", "--manifest", "m", "--store", "s", "--format", "json"];
    assert_eq!(scan(&folder, "1", "s"), 0);
    let (code, text, _) = told(&folder, &asked);
    let told_status: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(code, 1);
    assert_eq!(told_status["whole"], serde_json::json!([1]));
    assert_eq!(told_status["missing"], serde_json::json!([0, 2]));
    // Refused: it names what is missing.
    let (code, _, error) = told(&folder, &["merge", "--manifest", "m", "--store", "s"]);
    assert_eq!(code, 1);
    assert!(
        error.contains("shard 0 is missing") && error.contains("shard 2 is missing"),
        "{error}"
    );
    // Never again: no such shard, no such manifest, no manifest at all, other options, wrong usage.
    assert_eq!(scan(&folder, "3", "s"), 64);
    fs::write(folder.join("broken"), "{\"type\":\"manifest\",\"format\":7}\n").expect("a file");
    assert_eq!(status(&["scan", "--manifest", "broken", "--shard", "0", "--store", "s"]), 64);
    let other = ["scan", "--manifest", "m", "--shard", "0", "--store", "s", "--pedantic"];
    assert_eq!(status(&other), 64);
    assert_eq!(status(&["scan", "--shard", "0"]), 64);
    assert_eq!(status(&["plan", "tree"]), 3);
    // Another try may succeed: the store cannot be made here.
    fs::write(folder.join("file"), "").expect("a file");
    assert_eq!(scan(&folder, "0", "file/s"), 75);
    // Or: a file is not there, or not what it was.
    let planned = folder.join("tree/2.40/calls.o");
    let there = fs::read(&planned).expect("a file");
    for now in [None, Some([&*there, b"!"].concat())] {
        match now {
            None => fs::remove_file(&planned).expect("it is there"),
            Some(bytes) => fs::write(&planned, bytes).expect("a file"),
        }
        let statuses = ["0", "1", "2"].map(|shard| scan(&folder, shard, "changed"));
        assert_eq!(statuses.iter().filter(|status| **status == 75).count(), 1, "{statuses:?}");
        let _ = fs::remove_dir_all(folder.join("changed"));
    }
    fs::write(&planned, there).expect("a file");
    // A shard that is damaged is told, and made again.
    let path = folder.join("s/shards/00001.ndjson.zst");
    let bytes = fs::read(&path).expect("a shard");
    fs::write(&path, &bytes[..bytes.len() / 2]).expect("a file");
    let (code, text, _) = told(&folder, &asked);
    let told_status: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((code, &told_status["damaged"][0]["shard"]), (1, &1.into()));
    assert_eq!(scan(&folder, "1", "s"), 0);
    assert_eq!(fs::read(&path).expect("a shard"), bytes);
}
