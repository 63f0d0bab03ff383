//! Scans that are repeatedly killed at random times and resumed. In the end, every record exists exactly once, and
//! all bytes are the same as after an undisturbed scan.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod scan;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use scan::{Numbers, folder};
use sframe_store::{Shard, Store};

const ITEMS: u32 = 300;
const SHARDS: u32 = 5;
const KILLS: u32 = 200;

/// Not a test: the process to be killed.
#[test]
#[ignore = "a part of another test"]
fn the_scan() {
    let folder = std::env::var_os("SFRAME_STORE").expect("a store");
    let mut store =
        Store::create(Path::new(&folder), scan::manifest(ITEMS, SHARDS)).expect("a store");
    for shard in 0..SHARDS {
        if let Shard::ToDo(mut writer) = store.begin(shard).expect("a shard") {
            let journal = store.journal(shard).expect("a journal");
            while let Some(item) = writer.next_item() {
                let _working = journal.working(item).expect("a note");
                for record in scan::records(item) {
                    writer.record(record.as_bytes()).expect("a record");
                }
                let content = Some(scan::content(item));
                writer.item_done(item, content, scan::without(item)).expect("it is next");
            }
            writer.finish().expect("a shard");
        }
    }
    store.merge().expect("all shards");
}

fn start(store: &Path) -> Child {
    Command::new(std::env::current_exe().expect("this program"))
        .args(["--ignored", "--exact", "the_scan"])
        .env("SFRAME_STORE", store)
        .stdout(Stdio::null())
        .stderr(Stdio::inherit())
        .spawn()
        .expect("this program")
}

/// Every result file in a folder, by path.
fn contents(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut contents = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).expect("readable") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(folder).expect("in it").display().to_string();
            contents.insert(name, fs::read(path).expect("readable"));
        }
    }
    contents
}

#[test]
fn a_killed_scan_neither_loses_nor_duplicates_records() {
    let undisturbed = folder("kill-undisturbed");
    let begun = Instant::now();
    assert!(start(&undisturbed).wait().expect("it ends").success());
    let takes = begun.elapsed();
    let expected = contents(&undisturbed);
    assert!(expected.len() >= 2 + SHARDS as usize, "{:?}", expected.keys());

    let store = folder("kill-disturbed");
    let mut numbers = Numbers(20_261_121);
    let (mut kills, mut with_shards, mut scans) = (0, 0, 0);
    while kills < KILLS {
        let mut child = start(&store);
        // Up to slightly longer than a scan takes, so that the last moments are covered too.
        let longest = u64::try_from(takes.as_micros()).expect("seconds") * 9 / 8;
        let delay = numbers.below(longest + 1);
        std::thread::sleep(Duration::from_micros(delay));
        child.kill().expect("ours");
        let ended = child.wait().expect("it ends");
        if ended.code().is_none() {
            kills += 1;
            let there = fs::read_dir(store.join("shards")).map_or(0, Iterator::count);
            with_shards += u32::from(there > 0);
            continue;
        }
        assert!(ended.success());
        assert!(contents(&store) == expected, "after {kills} kills");
        fs::remove_dir_all(&store).expect("removable");
        scans += 1;
    }
    assert!(start(&store).wait().expect("it ends").success());
    assert!(contents(&store) == expected, "after {kills} kills");
    eprintln!("{kills} kills, {with_shards} of them after the first shard; {} scans", scans + 1);
    assert!(with_shards > KILLS / 4, "{with_shards}");

    let text: String =
        (0..SHARDS).map(|k| scan::decompressed(&scan::shard_path(&store, k))).collect();
    let mut records: Vec<&str> =
        text.lines().filter(|line| line.starts_with("{\"type\":\"file\"")).collect();
    let mut all: Vec<String> = (0..ITEMS).flat_map(scan::records).collect();
    records.sort_unstable();
    all.sort_unstable();
    assert!(records == all);
}
