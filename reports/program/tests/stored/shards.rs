//! Plans, shards and merging, for engines that distribute a scan.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::{folder, golden_tree, outcome, plain_records, records};

fn planned(name: &str) -> std::path::PathBuf {
    let folder = folder(name);
    golden_tree(&folder.join("tree"));
    let (status, _, error) = outcome(&folder, &["plan", "tree", "--shards", "3", "-o", "m"]);
    assert_eq!(status, 0, "{error}");
    folder
}

fn scan(folder: &Path, shard: &str, store: &str) -> i32 {
    outcome(folder, &["scan", "--manifest", "m", "--shard", shard, "--store", store]).0
}

#[test]
fn shards_in_any_order_have_the_records_of_one_scan() {
    let folder = planned("any-order");
    for shard in ["2", "0", "1", "0"] {
        assert_eq!(scan(&folder, shard, "store"), 0);
    }
    assert_eq!(outcome(&folder, &["merge", "--manifest", "m", "--store", "store"]).0, 0);
    // The manifest has absolute paths, so that a shard can be checked from any folder.
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
fn a_shard_has_the_same_bytes_in_every_store() {
    let folder = planned("same-bytes");
    for shard in ["0", "1", "2"] {
        assert_eq!((scan(&folder, shard, "one"), scan(&folder, shard, "two")), (0, 0));
        let bytes = |store| fs::read(folder.join(format!("{store}/shards/0000{shard}.ndjson.zst")));
        assert_eq!(bytes("one").expect("a shard"), bytes("two").expect("a shard"));
    }
}

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
