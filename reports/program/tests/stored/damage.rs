//! Damage in complete stores, as the commands report it: which file, what to do, and the exit status.
//! What is damaged is known, for it is done here.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{folder, golden_tree, told};

const TABLE: &str = "tables/files/shard=00000/rows.parquet";
const SHARD: &str = "shards/00000.ndjson.zst";
const MANIFEST: &str = "manifest.ndjson.zst";
const STATUS: [&str; 5] = ["status", "--manifest", "m", "--store", "s"];
const MERGE: [&str; 5] = ["merge", "--manifest", "m", "--store", "s"];

/// A complete store `s` of the manifest `m`.
fn merged(name: &str) -> PathBuf {
    let folder = folder(name);
    golden_tree(&folder.join("tree"));
    assert_eq!(told(&folder, &["plan", "tree", "--shards", "2", "-o", "m"]).0, 0);
    for shard in ["0", "1"] {
        let scan = ["scan", "--manifest", "m", "--shard", shard, "--store", "s"];
        assert_eq!(told(&folder, &scan).0, 0);
    }
    assert_eq!(told(&folder, &MERGE).0, 0);
    assert_eq!(told(&folder, &STATUS), (0, "2 of 2 whole\n".to_owned(), String::new()));
    folder
}

/// Changes one bit in the middle of a file.
fn flip(path: &Path) {
    let mut bytes = fs::read(path).expect("a file");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 4;
    fs::write(path, bytes).expect("a file");
}

#[test]
fn status_names_it_and_merge_makes_it_again() {
    let folder = merged("damage");
    for name in [TABLE, MANIFEST, "files.ndjson"] {
        let path = folder.join("s").join(name);
        let sound = fs::read(&path).expect("a file");
        for damage in [flip, |path: &Path| fs::remove_file(path).expect("it is there")] {
            damage(&path);
            let (status, text, _) = told(&folder, &STATUS);
            assert_eq!(status, 1, "{name}: {text}");
            assert!(text.contains(name) && text.contains("merge the store again"), "{text}");
            let (status, _, error) = told(&folder, &MERGE);
            assert_eq!(status, 0, "{name}: {error}");
            assert!(error.contains(&format!("s: {name}: it")), "{error}");
            assert_eq!(fs::read(&path).expect("made again"), sound);
            assert_eq!(told(&folder, &STATUS).0, 0);
        }
    }
    let surplus = folder.join("s/tables/files/shard=00001/more.parquet");
    fs::write(&surplus, "").expect("a file");
    let (status, text, _) = told(&folder, &STATUS);
    assert!(status == 1 && text.contains("more.parquet: it is not a file of this store"), "{text}");
    assert_eq!((told(&folder, &MERGE).0, surplus.exists()), (0, false));
    // What nobody reads is left alone; its name does not reach the terminal as it is.
    fs::write(folder.join("s/red\u{1b}[31m\u{202e}"), "").expect("a file");
    let (status, text, _) = told(&folder, &STATUS);
    assert!(
        status == 1 && text.contains("red\\x1b[31m\\xe2\\x80\\xae: it is not a file"),
        "{text}"
    );
    assert_eq!((told(&folder, &MERGE).0, told(&folder, &STATUS).0), (0, 1));
}

#[test]
fn what_merging_cannot_make_again_is_refused() {
    let folder = merged("damage-refused");
    let shard = folder.join("s").join(SHARD);
    flip(&shard);
    let (status, text, _) = told(&folder, &STATUS);
    assert!(status == 1 && text.contains("shard 0 is damaged"), "{text}");
    let (status, _, error) = told(&folder, &MERGE);
    assert!(status == 1 && error.contains("shard 0 is damaged"), "{error}");
    assert!(error.contains("scan it again"), "{error}");
    let scan = ["scan", "--manifest", "m", "--shard", "0", "--store", "s"];
    assert_eq!((told(&folder, &scan).0, told(&folder, &STATUS).0), (0, 0));
    let run = folder.join("s/run.json");
    flip(&run);
    let (status, text, _) = told(&folder, &STATUS);
    assert!(status == 1 && text.contains("run.json") && text.contains("remove it"), "{text}");
    let (status, _, error) = told(&folder, &MERGE);
    assert!(status == 64 && error.contains("s/run.json"), "{error}");
    fs::remove_file(&run).expect("it is there");
    assert_eq!(told(&folder, &STATUS).0, 1);
    assert_eq!((told(&folder, &MERGE).0, told(&folder, &STATUS).0), (0, 0));
}

#[test]
fn comparing_and_taking_over_verify_what_they_read() {
    let folder = merged("damage-readers");
    let night = ["--store", "t", "--previous", "s", "tree"];
    for (name, of_compare) in [(SHARD, 2), (MANIFEST, 3), ("files.ndjson", 3), ("run.json", 3)] {
        let path = folder.join("s").join(name);
        let sound = fs::read(&path).expect("a file");
        flip(&path);
        let (status, _, error) = told(&folder, &["compare", "s", "s"]);
        assert_eq!(status, of_compare, "{name}: {error}");
        let named = if name == SHARD { "s: shard 0 is damaged" } else { name };
        assert!(error.contains(named), "{name}: {error}");
        let (status, _, error) = told(&folder, &night);
        assert_eq!(status == 3, name != SHARD, "{name}: {error}");
        assert!(error.contains(name), "{name}: {error}");
        fs::write(&path, sound).expect("a file");
        let _ = fs::remove_dir_all(folder.join("t"));
    }
    let (status, _, error) = told(&folder, &["compare", "s", "s"]);
    assert_eq!((status, error.as_str()), (0, ""));
    // Copied with the system's own tool: nothing in it depends on where it is.
    let copied =
        std::process::Command::new("cp").args(["-r", "s", "u"]).current_dir(&folder).status();
    assert!(copied.is_ok_and(|copied| copied.success()));
    assert_eq!(told(&folder, &["status", "--manifest", "m", "--store", "u"]).0, 0);
}

/// As it was written until stores had hashes.
#[test]
fn a_store_without_hashes_is_read_and_says_so() {
    let folder = merged("damage-old");
    let path = folder.join("s/run.json");
    let text = fs::read_to_string(&path).expect("a file");
    let (old, _) = text.split_once(",\n  \"files\"").expect("the hash of the list");
    fs::write(&path, format!("{old}\n}}\n")).expect("a file");
    fs::remove_file(folder.join("s/files.ndjson")).expect("it is there");
    let (status, text, _) = told(&folder, &STATUS);
    assert!(status == 0 && text.contains("it has no hashes of its files"), "{text}");
    let (status, _, error) = told(&folder, &["compare", "s", "s"]);
    assert!(status == 0 && error.contains("s: it has no hashes of its files"), "{error}");
    assert_eq!(told(&folder, &MERGE).0, 0);
    assert_eq!(told(&folder, &STATUS).1, "2 of 2 whole\n");
}

/// A store of one machine, whose scan goes on: what is damaged is named and made again.
#[test]
fn a_scan_that_goes_on_makes_its_store_sound() {
    let folder = folder("damage-resume");
    golden_tree(&folder.join("tree"));
    let scan = ["--store", "s", "--resume", "tree"];
    let manifest = "s/manifest.ndjson.zst";
    let status = ["status", "--manifest", manifest, "--store", "s"];
    let (first, output, error) = told(&folder, &["--store", "s", "tree"]);
    assert_eq!(told(&folder, &status).1, "1 of 1 whole\n", "{error}");
    assert_eq!(told(&folder, &scan), (first, output.clone(), error));
    assert_eq!(told(&folder, &status).0, 0);
    for name in [TABLE, SHARD] {
        flip(&folder.join("s").join(name));
        assert_eq!(told(&folder, &status).0, 1);
        assert_eq!(told(&folder, &scan).1, output);
        assert_eq!(told(&folder, &status).1, "1 of 1 whole\n", "{name}");
    }
}
