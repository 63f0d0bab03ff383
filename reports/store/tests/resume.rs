//! Repeated scans: only unchanged items are found in an earlier store, and items that crashed a process are known.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod scan;

use std::fs::{self, File, FileTimes};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use scan::{content, folder, key, path_of, shard_path, whole, without};
use sframe_store::{
    ContentHash, Counts, Error, Key, Known, Manifest, Previous, Shard, Stamps, StampsWriter, Store,
};

fn other_key() -> Key {
    Key { tool: "another".to_owned(), ..key() }
}

/// The earlier results for an item, as text.
fn found(previous: &Previous, item: u32) -> Option<(Vec<String>, Counts)> {
    let unchanged = previous.find(&path_of(item), &content(item)).expect("readable")?;
    let text = |record: Vec<u8>| String::from_utf8(record).expect("UTF-8");
    Some((unchanged.records.into_iter().map(text).collect(), unchanged.without))
}

#[test]
fn unchanged_items_are_found_again() {
    let folder = folder("resume-found");
    // The store need not be merged.
    whole(&folder, 5000, 5);
    let previous = Previous::open(&folder, &key()).expect("a store");
    assert_eq!(previous.len(), 5000);
    let mut numbers = scan::Numbers(3);
    let at_random: Vec<u32> =
        (0..500).filter_map(|_| u32::try_from(numbers.below(5000)).ok()).collect();
    for item in (0..5000).chain(at_random) {
        let expected = (scan::records(item), without(item));
        assert_eq!(found(&previous, item), Some(expected), "{item}");
    }
    std::thread::scope(|scope| {
        for start in 0..4 {
            let previous = &previous;
            scope.spawn(move || {
                for item in (start * 1000..5000).step_by(7) {
                    assert_eq!(found(previous, item).expect("known").0, scan::records(item));
                }
            });
        }
    });
}

#[test]
fn changed_items_are_not_found() {
    let folder = folder("resume-changed");
    whole(&folder, 100, 4);
    let previous = Previous::open(&folder, &key()).expect("a store");
    let find = |path: &Path, hash| previous.find(path, &hash).expect("readable");
    assert!(find(&path_of(1), content(1)).is_some());
    assert_eq!(find(&path_of(1), content(2)), None);
    // Records contain paths, so a file with the same content and another path is not found.
    assert_eq!(find(&path_of(2), content(1)), None);
    assert!(Previous::open(&folder, &other_key()).expect("a store").is_empty());
    // If one shard is missing and one is damaged, the others can still be used.
    fs::remove_file(shard_path(&folder, 0)).expect("removable");
    let bytes = fs::read(shard_path(&folder, 1)).expect("readable");
    fs::write(shard_path(&folder, 1), &bytes[..bytes.len() - 5]).expect("writable");
    let previous = Previous::open(&folder, &key()).expect("a store");
    let manifest = scan::manifest(100, 4);
    for shard in 0..4 {
        for (item, _) in manifest.items_of(shard) {
            assert_eq!(found(&previous, item).is_some(), shard > 1, "{item} of {shard}");
        }
    }
    // A shard changes after the store was opened.
    let previous = Previous::open(&folder, &key()).expect("a store");
    fs::write(shard_path(&folder, 2), [0; 4000]).expect("writable");
    let (item, _) =
        manifest.items_of(2).find(|(item, _)| item % 7 > 0).expect("an item with records");
    let error = previous.find(&path_of(item), &content(item)).expect_err("it is damaged");
    assert!(matches!(error, Error::Damaged { .. }), "{error}");
}

/// Items with more records than a frame holds, and with a record longer than a frame.
#[test]
fn large_items_are_found_whole() {
    let folder = folder("resume-large");
    let store = Store::create(&folder, scan::manifest(3, 1)).expect("a store");
    let record = |item: u32, x: &str| {
        let path = scan::path_of(item);
        let path = path.display();
        format!(r#"{{"type":"file","path":"{path}","status":"checked","x":"{x}"}}"#)
    };
    let long = "x".repeat(3 << 20);
    let many: Vec<String> =
        (0..=255).cycle().take(20_000).map(|n: u8| ContentHash::of(&[n, 1]).to_string()).collect();
    let mut middle = many.clone();
    middle.insert(10_000, long.clone());
    let Shard::ToDo(mut writer) = store.begin(0).expect("a shard") else { panic!("it is new") };
    let all = [vec![long.clone(), long], middle, many];
    let of_item = |(item, all): (u32, &Vec<String>)| -> Vec<String> {
        all.iter().map(|x| record(item, x)).collect()
    };
    let all: Vec<Vec<String>> = (0..).zip(&all).map(of_item).collect();
    for (item, records) in (0..).zip(&all) {
        records.iter().for_each(|record| writer.record(record.as_bytes()).expect("a record"));
        writer.item_done(item, Some(content(item)), Counts::default()).expect("it is next");
    }
    writer.finish().expect("a shard");
    let previous = Previous::open(&folder, &key()).expect("a store");
    for (item, records) in (0..).zip(all) {
        assert!(found(&previous, item).expect("known").0 == records, "{item}");
    }
}

/// Writes a file with a modification time of an hour ago. Its status change time is now.
fn file(path: &Path, text: &str) {
    fs::write(path, text).expect("writable");
    let hour_ago = SystemTime::now() - Duration::from_secs(3600);
    let file = File::options().write(true).open(path).expect("ours");
    file.set_times(FileTimes::new().set_modified(hour_ago)).expect("ours");
}

/// Waits for 2 seconds, after which the status change time of a file counts as old. It cannot be set.
fn wait() {
    std::thread::sleep(Duration::from_millis(2100));
}

#[test]
fn only_unchanged_files_are_found_by_stamps() {
    let folder = folder("resume-stamps");
    let names = ["same", "written", "replaced", "longer", "text", "link", "fresh"];
    let [same, written, replaced, longer, text, link, fresh] = names.map(|name| folder.join(name));
    for path in [&same, &written, &replaced, &longer, &text] {
        file(path, "content");
    }
    fs::hard_link(&same, &link).expect("writable");
    wait();
    let status = |path: &PathBuf| fs::metadata(path).expect("it exists");
    let hash = ContentHash::of(b"content");
    let store = folder.join("store");
    let mut writer = StampsWriter::start(&store, &key()).expect("writable");
    // A file written after the start of the scan is not trusted.
    file(&fresh, "content");
    for path in [&same, &written, &replaced, &longer, &link, &fresh] {
        writer.note(&status(path), Known::Content(hash));
    }
    writer.note(&status(&text), Known::Without("not-elf"));
    writer.save().expect("writable");

    // The same size and modification time; the status change time cannot be set.
    let time = status(&written).modified().expect("a time");
    fs::write(&written, "CONTENT").expect("writable");
    let open = File::options().write(true).open(&written).expect("ours");
    open.set_times(FileTimes::new().set_modified(time)).expect("ours");
    assert_eq!(status(&written).modified().expect("a time"), time);
    let beside = folder.join("beside");
    file(&beside, "content");
    fs::rename(&beside, &replaced).expect("writable");
    fs::write(&longer, "content, and more").expect("writable");

    let stamps = Stamps::load(&store, &key()).expect("whole");
    let known = |path: &PathBuf| stamps.find(&status(path));
    assert_eq!(known(&same), Some(Known::Content(hash)));
    assert_eq!(known(&link), Some(Known::Content(hash)));
    assert_eq!(known(&text), Some(Known::Without("not-elf")));
    for path in [&written, &replaced, &longer, &fresh] {
        assert_eq!(known(path), None, "{}", path.display());
    }
    // A content hash is valid for any version of the program, but that a file has no record is not.
    let stamps = Stamps::load(&store, &other_key()).expect("whole");
    assert_eq!(stamps.find(&status(&same)), Some(Known::Content(hash)));
    assert_eq!(stamps.find(&status(&text)), None);
}

#[test]
fn damaged_stamps_are_refused() {
    let folder = folder("resume-stamps-damaged");
    let store = folder.join("store");
    assert!(Stamps::load(&store, &key()).expect("none").is_empty());
    file(&folder.join("file"), "content");
    wait();
    let status = fs::metadata(folder.join("file")).expect("it exists");
    let mut writer = StampsWriter::start(&store, &key()).expect("writable");
    writer.note(&status, Known::Content(content(1)));
    writer.save().expect("writable");
    let path = store.join("stamps");
    let sound = fs::read(&path).expect("readable");
    assert_eq!(Stamps::load(&store, &key()).expect("whole").len(), 1);
    for place in 0..sound.len() {
        let mut bytes = sound.clone();
        bytes[place] ^= 1;
        fs::write(&path, &bytes).expect("writable");
        assert!(Stamps::load(&store, &key()).is_err(), "byte {place}");
        fs::write(&path, &sound[..place]).expect("writable");
        assert!(Stamps::load(&store, &key()).is_err(), "{place} bytes");
    }
    // Changed bytes with a correct hash, among them counts of more entries than there are.
    for place in 48..sound.len() - 32 {
        let mut bytes = sound[..sound.len() - 32].to_vec();
        bytes[place] = 0xff;
        let hash = ContentHash::of(&bytes);
        bytes.extend(hash.as_bytes());
        fs::write(&path, &bytes).expect("writable");
        let found = Stamps::load(&store, &key()).map_or(0, |stamps| stamps.len());
        assert!(found <= 1);
    }
}

/// Not a test: a process that finishes an item and dies while working on the next, or on the next two.
#[test]
#[ignore = "a part of another test"]
fn crash_while_working() {
    let folder = std::env::var_os("SFRAME_STORE").expect("a store");
    let store = Store::open(Path::new(&folder)).expect("a store");
    let journal = store.journal(0).expect("a journal");
    drop(journal.working(4).expect("a note"));
    let _fourth = journal.working(5).expect("a note");
    if std::env::var_os("SFRAME_BOTH").is_some() {
        let _fifth = journal.working(6).expect("a note");
        std::process::abort();
    }
    std::process::abort();
}

#[test]
fn items_in_progress_at_a_crash_are_suspects() {
    let folder = folder("resume-deaths");
    let manifest = Manifest::plan(scan::plan(scan::items(10), 1)).expect("a plan");
    let mut store = Store::create(&folder, manifest).expect("a store");
    let die = |both: bool| {
        let mut command = Command::new(std::env::current_exe().expect("this program"));
        command.args(["--ignored", "--exact", "crash_while_working"]).env("SFRAME_STORE", &folder);
        if both {
            command.env("SFRAME_BOTH", "1");
        }
        assert_eq!(command.output().expect("this program").status.code(), None);
    };
    let suspects = || Store::open(&folder).and_then(|store| store.suspects(0)).expect("readable");
    assert!(suspects().is_empty());
    die(true);
    assert_eq!(suspects().into_iter().collect::<Vec<_>>(), [(5, 1), (6, 1)]);
    die(false);
    assert_eq!(suspects().into_iter().collect::<Vec<_>>(), [(5, 2), (6, 1)]);
    // Items of live processes, and of those that ended normally, are not suspects.
    let journal = store.journal(0).expect("a journal");
    let working = journal.working(7).expect("a note");
    assert_eq!(suspects().len(), 2);
    drop(working);
    drop(journal);
    assert_eq!(suspects().len(), 2);
    // Journals of dead processes, with incomplete and invalid lines.
    fs::write(folder.join("work/00000-abcdef.journal"), "+8\n-8\n+9\nx\n+-1\n+3")
        .expect("writable");
    fs::write(folder.join("work/00001-abcdef.journal"), "+2\n").expect("writable");
    assert_eq!(suspects().into_keys().collect::<Vec<_>>(), [5, 6, 9]);
    scan::write(&store, 0).expect("a shard");
    store.merge().expect("complete");
    assert!(!folder.join("work").exists());
}
