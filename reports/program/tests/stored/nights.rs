//! From one night to the next: what has not changed is taken over, what has is compared.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use serde_json::Value;

use crate::{folder, golden_tree, records, run, told};

/// Files that were changed just before a scan are not trusted by their stamps.
fn age(folder: &Path) {
    let old = SystemTime::now() - Duration::from_secs(3600);
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            age(&path);
        } else {
            let file = fs::File::options().append(true).open(&path).expect("a file");
            file.set_modified(old).expect("a time");
        }
    }
}

#[test]
fn unchanged_files_are_taken_over_and_changed_ones_are_not() {
    let folder = folder("nights");
    golden_tree(&folder.join("tree"));
    age(&folder.join("tree"));
    // When their status changed nobody can set: it has to be two seconds ago as well.
    std::thread::sleep(Duration::from_millis(2100));
    run(&folder, &["--store", "monday", "tree"]);
    // Each ELF file and the text are known by their stamps: 48 bytes and 17 (store/src/stamps.rs).
    let stamps = fs::metadata(folder.join("monday/stamps")).expect("stamps").len();
    let files = records(&folder.join("monday")).len() as u64;
    assert!(files >= 9 && stamps >= 48 * files + 17, "{stamps} bytes for {files} files");
    // A defect: the magic number of a section.
    let path = folder.join("tree/2.44/handwritten.so");
    let mut bytes = fs::read(&path).expect("a file");
    let at = bytes.windows(3).position(|w| w == [0xe2, 0xde, 2]).expect("a section");
    bytes[at] = 0;
    fs::write(&path, bytes).expect("a file");
    fs::remove_file(folder.join("tree/2.40/calls.o")).expect("it is there");
    let (status, ..) = told(&folder, &["--store", "tuesday", "--previous", "monday", "tree"]);
    assert_eq!(status, 1);
    run(&folder, &["--store", "anew", "tree"]);
    let (monday, tuesday) = (records(&folder.join("monday")), records(&folder.join("tuesday")));
    assert_eq!(tuesday, records(&folder.join("anew")));
    assert_eq!(tuesday.len() + 1, monday.len());

    let (status, text, _) = told(&folder, &["compare", "monday", "tuesday"]);
    assert_eq!(status, 1, "{text}");
    assert!(text.contains("bad-magic") && text.contains("handwritten.so"), "{text}");
    let (status, text, error) = told(&folder, &["compare", "monday", "monday"]);
    assert_eq!(status, 0, "{text}{error}");
    // The other way round it was repaired.
    let (_, text, _) = told(&folder, &["compare", "--format", "json", "tuesday", "monday"]);
    let changes: Value = serde_json::from_str(&text).expect("JSON");
    let rule = |rule: &&Value| rule["rule"] == "bad-magic";
    let rules = changes["rules"].as_array().expect("a list");
    assert!(rules.iter().find(rule).is_some(), "{text}");
}

#[test]
fn what_a_damaged_shard_held_is_not_said_to_be_gone() {
    let folder = folder("rot");
    golden_tree(&folder.join("tree"));
    run(&folder, &["--store", "monday", "tree"]);
    run(&folder, &["--store", "tuesday", "tree"]);
    let shard = folder.join("tuesday/shards/00000.ndjson.zst");
    let mut bytes = fs::read(&shard).expect("a shard");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&shard, bytes).expect("a file");
    let (status, text, error) = told(&folder, &["compare", "monday", "tuesday"]);
    assert_eq!(status, 2, "{text}");
    assert!(error.contains("shard 0 is damaged"), "{error}");
}

#[test]
fn a_report_is_as_good_as_a_store() {
    let folder = folder("report");
    golden_tree(&folder.join("tree"));
    let report = run(&folder, &["--format", "json", "--coverage", "tree"]);
    fs::write(folder.join("report.json"), &report.stdout).expect("a file");
    let lines = run(&folder, &["--format", "ndjson", "--coverage", "tree"]);
    fs::write(folder.join("report.ndjson"), &lines.stdout).expect("a file");
    let (status, text, error) = told(&folder, &["compare", "report.json", "report.ndjson"]);
    assert_eq!(status, 0, "{text}{error}");
}

#[test]
fn a_store_is_not_scanned_over() {
    let folder = folder("over");
    golden_tree(&folder.join("tree"));
    run(&folder, &["--store", "store", "tree"]);
    let (status, _, error) = told(&folder, &["--store", "store", "tree"]);
    assert_eq!(status, 3);
    assert!(error.contains("is a store already"), "{error}");
    let (status, _, error) = told(&folder, &["--store", "store", "--resume", "elsewhere"]);
    assert_eq!(status, 3);
    assert!(error.contains("of other inputs"), "{error}");
}

#[test]
fn what_a_damaged_report_says_reaches_no_terminal_as_it_is() {
    let folder = folder("control-characters");
    let line = "{\"type\":\"file\",\"path\":\"a\",\"status\":\"\\u001b[31mred\\u202e\"}\n";
    fs::write(folder.join("a.ndjson"), line).expect("a report");
    let (status, _, error) = told(&folder, &["compare", "a.ndjson", "a.ndjson"]);
    assert_eq!(status, 3);
    assert!(error.contains("unknown variant `\\x1b[31mred\\xe2\\x80\\xae`"), "{error}");
}

#[test]
fn all_causes_are_told_where_all_are_asked_for() {
    let folder = folder("causes");
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/golden");
    let golden = golden.to_str().expect("UTF-8");
    let some = told(&folder, &["-q", "--store", "some", golden]).1;
    let all = told(&folder, &["-q", "--store", "all", "--all", golden]).1;
    let (_, more) = some.split_once("\nand ").expect("more causes");
    let more: usize = more.split(' ').next().and_then(|more| more.parse().ok()).expect("a number");
    let causes = |text: &str| {
        let is_cause = |line: &&str| line.starts_with("error[") || line.starts_with("warning[");
        text.lines().filter(is_cause).count()
    };
    assert_eq!(causes(&some), 10);
    // With --all, every range of a function is there, and may have a shape of its own.
    assert!(!all.contains("\nand ") && causes(&all) >= 10 + more, "{all}");
}
