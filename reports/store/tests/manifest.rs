//! Manifests: their text, the balance of their shards, and the errors for invalid ones.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod scan;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use scan::{Numbers, folder, key, plan};
use sframe_store::{ContentHash, Counts, Error, Item, Manifest, Plan};

fn item(path: &[u8], size: u64) -> Item {
    Item { path: PathBuf::from(OsStr::from_bytes(path)), size, hash: None }
}

/// The BLAKE3 hash of no bytes, from its authors' test vectors.
const EMPTY: &str = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262";

#[test]
fn a_manifest_has_the_documented_text() {
    let folder = folder("manifest-text");
    let mut with_hash = item(b"a\n\"b", 5);
    with_hash.hash = EMPTY.parse().ok();
    let mut without = Counts::default();
    without.add("not-elf", 7);
    let items = vec![with_hash, item(b"caf\xe9.so", 100_000)];
    let mut key = key();
    key.rules = EMPTY.parse().expect("a hash");
    key.options = key.rules;
    let inputs = vec!["in".into()];
    let manifest = Manifest::plan(Plan { key, inputs, shards: 2, without, items }).expect("a plan");
    let plain = folder.join("manifest");
    manifest.save(&plain).expect("writable");
    let expected = format!(
        r#"{{"type":"manifest","format":1,"key":{{"tool":"sframe-check 0.1.0","rules":"{EMPTY}","options":"{EMPTY}"}},"inputs":[{{"path":"in"}}],"shards":2,"items":2,"without":{{"not-elf":7}}}}
{{"path":"a\n\"b","size":5,"hash":"{EMPTY}","shard":1}}
{{"path":"caf\\xe9.so","path_hex":"636166e92e736f","size":100000,"shard":0}}
"#
    );
    assert_eq!(fs::read_to_string(&plain).expect("readable"), expected);
    assert_eq!(manifest.hash(), ContentHash::of(expected.as_bytes()));
    assert_eq!(Manifest::open(&plain).expect("a manifest"), manifest);

    let packed = folder.join("manifest.zst");
    manifest.save(&packed).expect("writable");
    assert_eq!(scan::decompressed(&packed), expected);
    assert_eq!(Manifest::open(&packed).expect("a manifest"), manifest);
}

/// The smallest possible load of the heaviest shard, found by trying all distributions.
fn best(loads: &[u64], shards: usize) -> u64 {
    fn place(rest: &[u64], bins: &mut [u64]) -> u64 {
        let Some((load, rest)) = rest.split_first() else {
            return bins.iter().copied().max().unwrap_or(0);
        };
        let tries = (0..bins.len()).map(|bin| {
            bins[bin] += load;
            let heaviest = place(rest, bins);
            bins[bin] -= load;
            heaviest
        });
        tries.min().unwrap_or(0)
    }
    place(loads, &mut vec![0; shards])
}

/// By Graham's bound, the heaviest of m shards has at most 4/3 - 1/(3m) times the optimal load. Opening a file counts
/// as 4096 bytes.
#[test]
fn shards_are_balanced() {
    let mut numbers = Numbers(7);
    for _ in 0..200 {
        let sizes: Vec<u64> = (0..8).map(|_| numbers.below(1_000_000)).collect();
        let items: Vec<Item> = sizes
            .iter()
            .enumerate()
            .map(|(n, size)| item(format!("{n}").as_bytes(), *size))
            .collect();
        let manifest = Manifest::plan(plan(items, 3)).expect("a plan");
        let load = |shard| manifest.items_of(shard).map(|(_, item)| item.size + 4096).sum::<u64>();
        let heaviest = (0..3).map(load).max().expect("shards");
        let loads: Vec<u64> = sizes.iter().map(|size| size + 4096).collect();
        assert!(heaviest * 9 <= best(&loads, 3) * 11, "{sizes:?}");
    }
}

#[test]
fn every_item_is_in_one_shard_for_any_order_of_inputs() {
    let items = scan::items(1000);
    let manifest = Manifest::plan(plan(items.clone(), 7)).expect("a plan");
    let mut seen = vec![0; items.len()];
    for shard in 0..7 {
        let numbers: Vec<u32> = manifest.items_of(shard).map(|(number, _)| number).collect();
        assert!(numbers.is_sorted() && numbers.len() > 100);
        numbers.iter().for_each(|&number| seen[number as usize] += 1);
    }
    assert_eq!(seen, vec![1; items.len()]);
    let shard_of = |manifest: &Manifest, path: &Path| {
        (0..7).find(|&shard| manifest.items_of(shard).any(|(_, item)| item.path == path))
    };
    let reversed = Manifest::plan(plan(items.iter().rev().cloned().collect(), 7)).expect("a plan");
    for item in items.iter().step_by(50) {
        assert_eq!(shard_of(&manifest, &item.path), shard_of(&reversed, &item.path));
    }
    assert_ne!(manifest.hash(), reversed.hash());
}

#[test]
fn empty_files_are_spread_and_duplicate_paths_are_dropped() {
    let empty: Vec<Item> = (0..100).map(|n| item(format!("{n}").as_bytes(), 0)).collect();
    let twice = empty.iter().chain(&empty).cloned().collect();
    let manifest = Manifest::plan(plan(twice, 4)).expect("a plan");
    assert_eq!(manifest.items().len(), 100);
    assert!((0..4).all(|shard| manifest.items_of(shard).len() == 25));
    for (items, shards) in [(vec![item(b"", 1)], 1), (vec![item(b"a\0b", 1)], 1), (vec![], 0)] {
        assert!(matches!(Manifest::plan(plan(items, shards)), Err(Error::Usage(_))));
    }
}

/// Each case is a replacement in the text of a valid manifest, and the error that it causes.
#[test]
fn defects_are_reported_with_line_field_and_allowed_values() {
    let folder = folder("manifest-defects");
    let path = folder.join("manifest");
    let items = vec![item(b"a", 1), item(b"caf\xe9", 2)];
    Manifest::plan(plan(items, 2)).expect("a plan").save(&path).expect("writable");
    let sound = fs::read_to_string(&path).expect("readable");
    let cases = [
        (
            r#""type":"manifest""#,
            r#""type":"file""#,
            r#"line 1: `type` is "file", allowed: "manifest""#,
        ),
        (r#""format":1"#, r#""format":2"#, "line 1: `format` is 2, allowed: 1"),
        (
            r#""shards":2"#,
            r#""shards":0"#,
            "line 1: `shards` is 0, allowed: a whole number from 1 to 100000",
        ),
        (
            r#""shards":2"#,
            r#""shards":-1"#,
            "line 1: `shards` is -1, allowed: a whole number from 1 to 100000",
        ),
        (
            r#""items":2"#,
            r#""items":3"#,
            "line 1: `items` is 3, allowed: 2, as many as lines follow",
        ),
        (r#""tool":"#, r#""fool":"#, "line 1: `tool` is missing, allowed: a text"),
        (r#""rules":""#, r#""rules":"g"#, "allowed: 64 hexadecimal digits in lower case"),
        (r#""inputs":[{"#, r#""inputs":[7,{"#, "line 1: `inputs` is 7, allowed: a list of objects"),
        (
            r#""without":{}"#,
            r#""without":{"x":-2}"#,
            "line 1: `without` is -2, allowed: numbers from 1",
        ),
        (r#""without":{}"#, r#""without":7"#, "line 1: `without` is 7, allowed: an object"),
        (r#""shard":0"#, r#""shard":2"#, "`shard` is 2, allowed: a whole number from 0 to 1"),
        (
            r#""size":1"#,
            r#""size":"1""#,
            r#"line 2: `size` is "1", allowed: a whole number from 0 to 18446744073709551615"#,
        ),
        (
            r#""path":"a""#,
            r#""path":"""#,
            "line 2: `path` is , allowed: a path: not empty, without NUL",
        ),
        (r#""path":"a""#, r#""path":"a\u0000""#, "allowed: a path: not empty, without NUL"),
        (
            r#"636166e9"#,
            r#"636166e"#,
            "line 3: `path_hex` is 636166e, allowed: the bytes of `path`",
        ),
        (r#"636166e9"#, r#"636166e8"#, "line 3: `path_hex` is 636166e8"),
        (r#"{"path":"a""#, r#"[{"path":"a""#, "line 2: is not JSON"),
        ("{\"path\":\"a\"", "\n{\"path\":\"a\"", "line 2: is not JSON"),
        (
            r#"{"path":"caf\\xe9","path_hex":"636166e9","#,
            r#"{"path":"a","#,
            r#"line 3: `path` is "a" again, allowed: each path once"#,
        ),
    ];
    for (part, instead, message) in cases {
        assert_eq!(sound.matches(part).count(), 1, "{part}");
        fs::write(&path, sound.replace(part, instead)).expect("writable");
        let error = Manifest::open(&path).expect_err(part);
        assert!(error.to_string().contains(message), "{error}\nexpected: {message}");
        assert!(!error.may_pass());
    }
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for text in ["", "\n", "{}", "{}\n", deep.as_str(), &"x".repeat(20 << 20)] {
        fs::write(&path, text).expect("writable");
        let error = Manifest::open(&path).expect_err("no manifest");
        assert!(matches!(error, Error::Defect { .. } | Error::Damaged { .. }), "{error}");
    }
    assert!(Manifest::open(&folder.join("none")).is_err_and(|error| error.may_pass()));
}

/// After any change of a byte, reading fails or the manifest's hash is different.
#[test]
fn a_changed_manifest_is_refused_or_different() {
    let folder = folder("manifest-changed");
    let manifest = scan::manifest(5, 2);
    for name in ["manifest", "manifest.zst"] {
        let path = folder.join(name);
        manifest.save(&path).expect("writable");
        let sound = fs::read(&path).expect("readable");
        for place in 0..sound.len() {
            let mut bytes = sound.clone();
            bytes[place] ^= 1;
            fs::write(&path, &bytes).expect("writable");
            let same = Manifest::open(&path).is_ok_and(|read| read.hash() == manifest.hash());
            // Some bits of zstd's format have no meaning (RFC 8878), so changing them does not change the lines.
            assert!(!same || zstd::decode_all(&*bytes).ok() == zstd::decode_all(&*sound).ok());
            fs::write(&path, &sound[..place]).expect("writable");
            assert!(Manifest::open(&path).is_err(), "{name} of {place} bytes");
        }
    }
}
