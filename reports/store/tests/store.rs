//! Stores: concurrent creation, merging of complete shards, and system errors.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod scan;

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};

use scan::{content, folder, shard_path, whole, write};
use sframe_store::{ContentHash, Counts, Error, Manifest, Shard, Store, status};

#[test]
fn a_store_belongs_to_one_scan() {
    let folder = folder("store-one");
    create_at_once(&folder);
    assert_eq!(Store::open(&folder).expect("a store").manifest(), &scan::manifest(30, 3));
    let error = Store::create(&folder, scan::manifest(31, 3)).expect_err("another scan's");
    assert!(matches!(error, Error::Foreign { .. }) && !error.may_pass(), "{error}");
    // The store contains another manifest.
    scan::manifest(31, 3).save(&folder.join("manifest.ndjson.zst")).expect("writable");
    let error = Store::open(&folder).expect_err("not its manifest");
    assert!(matches!(error, Error::Foreign { .. }), "{error}");
    let left: Vec<_> = fs::read_dir(&folder).expect("it exists").collect();
    assert_eq!(left.len(), 3, "{left:?}");
}

/// Creates a store in eight threads at once, all of which must get the same store.
fn create_at_once(folder: &Path) {
    let made: Vec<Store> = std::thread::scope(|scope| {
        let make = || Store::create(folder, scan::manifest(30, 3)).expect("a store");
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(make)).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    assert!(made.iter().all(|store| store.run() == made[0].run()));
}

/// Creating a store removes the temporary files of dead writers. It must not remove those of live writers, even if
/// they have not locked a new file yet, a moment that occurs only in a few of a hundred rounds.
#[test]
fn creating_a_store_does_not_disturb_others_creating_it() {
    for _ in 0..150 {
        create_at_once(&folder("store-at-once"));
    }
}

#[test]
fn a_damaged_run_is_reported() {
    let folder = folder("store-run");
    drop(Store::create(&folder, scan::manifest(3, 1)).expect("a store"));
    let run = folder.join("run.json");
    let sound = fs::read_to_string(&run).expect("readable");
    assert!(sound.contains("\"state\": \"incomplete\""), "{sound}");
    for (part, instead, message) in [
        ("\"incomplete\"", "\"finished\"", "`state` is finished, allowed: \"complete\" or"),
        ("\"incomplete\"", "\"complete\"", "`totals` is missing, allowed: an object"),
        ("\"format\": 1", "\"format\": 2", "`format` is 2"),
        ("{", "[", "is not JSON"),
    ] {
        fs::write(&run, sound.replace(part, instead)).expect("writable");
        let error = Store::open(&folder).expect_err(part);
        assert!(error.to_string().contains(message), "{error}");
        assert!(matches!(error, Error::Defect { .. }));
    }
}

/// Engines parse this output.
#[test]
fn the_status_lists_each_shard() {
    let folder = folder("store-status");
    let manifest = scan::manifest(60, 4);
    let nothing = status(&manifest, &folder.join("none")).expect("readable");
    assert_eq!((nothing.missing.len(), nothing.is_whole()), (4, false));
    let store = whole(&folder, 60, 4);
    assert!(store.status().expect("readable").is_whole());
    fs::remove_file(shard_path(&folder, 1)).expect("removable");
    fs::write(shard_path(&folder, 3), "").expect("writable");
    fs::write(shard_path(&folder, 4), "").expect("writable");
    fs::write(folder.join("shards/0002.ndjson.zst"), "").expect("writable");
    fs::write(folder.join("shards/.nfs0001"), "").expect("writable");
    let text = serde_json::to_string(&store.status().expect("readable")).expect("JSON");
    assert_eq!(
        text,
        r#"{"shards":4,"whole":[0,2],"missing":[1],"damaged":[{"shard":3,"reason":"it is truncated: its last line is missing","remedy":"scan"}],"strange":["00004.ndjson.zst","0002.ndjson.zst"],"complete":false,"hashes":false,"files":[]}"#
    );
}

#[test]
fn a_merge_needs_every_shard_exactly_once() {
    let folder = folder("store-merge");
    let mut plan = scan::plan(scan::items(70), 3);
    plan.without.add("not-elf", 1000);
    let manifest = Manifest::plan(plan).expect("a plan");
    let mut store = Store::create(&folder, manifest).expect("a store");
    let refused = |store: &mut Store, what: &str| match store.merge() {
        Err(Error::Unmergeable(status)) => assert!(status.to_string().contains(what), "{status}"),
        other => panic!("{other:?}"),
    };
    refused(&mut store, "0 of 3 whole; shard 0 is missing; shard 1 is missing; shard 2");
    (0..3).for_each(|shard| drop(write(&store, shard).expect("a shard")));
    let path = shard_path(&folder, 1);
    let sound = fs::read(&path).expect("readable");
    fs::write(&path, &sound[..sound.len() - 1]).expect("writable");
    refused(&mut store, "2 of 3 whole; shard 1 cannot be used: it is truncated");
    fs::copy(shard_path(&folder, 0), &path).expect("writable");
    refused(
        &mut store,
        "shard 1 cannot be used: it belongs to another scan: its number is 0, not 1",
    );
    fs::write(&path, &sound).expect("writable");
    fs::copy(&path, shard_path(&folder, 3)).expect("writable");
    refused(&mut store, "3 of 3 whole; \"00003.ndjson.zst\" is not a shard of this scan");
    fs::remove_file(shard_path(&folder, 3)).expect("removable");
    assert_eq!(Store::open(&folder).expect("a store").run().totals, None);

    let totals = store.merge().expect("complete").totals;
    // Of the items 0 to 69, the ten divisible by 7 have no record. The other sixty have one, and a second one if they
    // are divisible by 5, which are 14 items minus 0 and 35.
    assert_eq!((totals.items, totals.records), (70, 60 + 12));
    assert_eq!(totals.without.get("not-elf"), 1010);
    let run = fs::read(folder.join("run.json")).expect("readable");
    let mut again = Store::open(&folder).expect("a store");
    assert_eq!(again.run().totals, Some(totals.clone()));
    let merged = again.merge().expect("it is complete");
    assert_eq!((merged.totals, merged.found), (totals, Vec::new()));
    assert_eq!(fs::read(folder.join("run.json")).expect("readable"), run);
    // A late writer finds all shards complete.
    assert!(matches!(again.begin(2), Ok(Shard::There(_))));
}

/// Runs a test of this program in a separate process, with limits set by the script `shell` and as `user`.
fn in_a_process(test: &str, shell: &str, user: Option<u32>, store: &Path) -> Output {
    let program = std::env::current_exe().expect("this program");
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{shell} exec \"$0\" --ignored --exact --nocapture {test}")]);
    command.arg(program).env("SFRAME_STORE", store);
    if let Some(user) = user {
        command.uid(user).gid(user);
    }
    command.output().expect("a shell")
}

/// Not a test: [`in_a_process`] runs this.
#[test]
#[ignore = "a part of other tests"]
fn one_shard_in_a_process() {
    let folder = std::env::var_os("SFRAME_STORE").expect("a store");
    let scan = || -> sframe_store::Result<()> {
        let store = Store::create(Path::new(&folder), scan::manifest(2000, 1))?;
        let Shard::ToDo(mut writer) = store.begin(0)? else { return Ok(()) };
        while let Some(item) = writer.next_item() {
            // Hashes do not compress.
            let (path, noise) = (scan::path_of(item), content(item));
            let path = path.display();
            let record = format!(
                r#"{{"type":"file","path":"{path}","status":"checked","noise":"{noise}"}}"#
            );
            writer.record(record.as_bytes())?;
            writer.item_done(item, Some(content(item)), Counts::default())?;
        }
        writer.finish().map(drop)
    };
    match scan() {
        Ok(()) => println!("\nwritten"),
        Err(error) => println!("\nrefused, may pass {}: {error}", error.may_pass()),
    }
}

/// A limit on the size of files interrupts a write as a full disk would.
#[test]
fn a_full_disk_leaves_no_files_and_can_be_retried() {
    let folder = folder("store-full");
    drop(Store::create(&folder, scan::manifest(2000, 1)).expect("a store"));
    for blocks in [1, 10, 100] {
        let shell = format!("trap '' XFSZ; ulimit -f {blocks};");
        let output = in_a_process("one_shard_in_a_process", &shell, None, &folder);
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(text.contains("\nrefused, may pass true: cannot write"), "{text}");
        assert!(text.contains("File too large"), "{text}");
        let left: Vec<_> = fs::read_dir(folder.join("shards")).expect("it exists").collect();
        assert!(left.is_empty(), "{left:?}");
    }
    let output = in_a_process("one_shard_in_a_process", "", None, &folder);
    assert!(String::from_utf8_lossy(&output.stdout).contains("\nwritten"));
    assert!(Store::open(&folder).expect("a store").merge().is_ok());
}

#[test]
fn a_folder_that_cannot_be_written_to_is_reported() {
    let folder = folder("store-unwritable");
    let file = folder.join("file");
    fs::write(&file, "").expect("writable");
    let error = Store::create(&file.join("store"), scan::manifest(1, 1)).expect_err("no folder");
    assert!(matches!(error, Error::Io { .. }) && error.may_pass(), "{error}");
    // Root may write anywhere, so if this is root, the process runs as another user.
    let nobody = is_root().then_some(65_534);
    let read_only = folder.join("read-only");
    fs::create_dir(&read_only).expect("writable");
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o555);
    fs::set_permissions(&read_only, mode).expect("ours");
    let output = in_a_process("one_shard_in_a_process", "", nobody, &read_only.join("store"));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("\nrefused, may pass true: cannot make"), "{output:?}");
    assert!(text.contains("Permission denied"), "{text}");
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

/// If several threads merge at once, one does the work, and the others get an error or find it done.
#[test]
fn only_one_merge_runs_at_a_time() {
    let folder = folder("store-busy");
    drop(whole(&folder, 400, 20));
    let merge = || Store::open(&folder).and_then(|mut store| store.merge());
    let results = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(merge)).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect::<Vec<_>>()
    });
    assert!(results.iter().any(Result::is_ok));
    for result in results {
        assert!(result.as_ref().is_ok() || result.is_err_and(|e| matches!(e, Error::Busy { .. })));
    }
    assert!(Store::open(&folder).expect("a store").run().totals.is_some());
}

#[test]
fn keys_distinguish_tools_rules_and_options() {
    let key = scan::key();
    let other = ContentHash::of(b"other");
    let tool = sframe_store::Key { tool: "sframe-check 0.1.1".to_owned(), ..key.clone() };
    let rules = sframe_store::Key { rules: other, ..key.clone() };
    let options = sframe_store::Key { options: other, ..key.clone() };
    let hashes = [&key, &tool, &rules, &options].map(sframe_store::Key::hash);
    let different: std::collections::BTreeSet<_> = hashes.iter().collect();
    assert_eq!(different.len(), 4);
}
