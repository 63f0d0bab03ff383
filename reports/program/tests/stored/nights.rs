//! Nightly scans: results for unchanged files are taken over from the previous store.

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::{folder, golden_tree, outcome, records, run};

/// Sets modification times to an hour ago. The program does not trust the timestamps of recently changed files.
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
    // The status change time cannot be set, and must be two seconds ago as well.
    std::thread::sleep(Duration::from_millis(2100));
    run(&folder, &["--store", "monday", "tree"]);
    // Each ELF file has a stamp of 48 bytes, and the text file one of 17 (store/src/stamps.rs).
    let stamps = fs::metadata(folder.join("monday/stamps")).expect("stamps").len();
    let files = records(&folder.join("monday")).len() as u64;
    assert!(files >= 9 && stamps >= 48 * files + 17, "{stamps} bytes for {files} files");
    // A defect: the magic number of a section.
    let path = folder.join("tree/2.44/handwritten.so");
    let mut bytes = fs::read(&path).expect("a file");
    let at = bytes.windows(3).position(|w| w == [0xe2, 0xde, 2]).expect("a section");
    bytes[at] = 0;
    fs::write(&path, bytes).expect("a file");
    fs::remove_file(folder.join("tree/2.40/calls.o")).expect("it exists");
    let (status, ..) = outcome(&folder, &["--store", "tuesday", "--previous", "monday", "tree"]);
    assert_eq!(status, 1);
    run(&folder, &["--store", "anew", "tree"]);
    let (monday, tuesday) = (records(&folder.join("monday")), records(&folder.join("tuesday")));
    assert_eq!(tuesday, records(&folder.join("anew")));
    assert_eq!(tuesday.len() + 1, monday.len());
}

#[test]
fn all_causes_are_listed_with_the_option_all() {
    let folder = folder("causes");
    let golden = sframe_corpus::corpus().join("golden");
    let golden = golden.to_str().expect("UTF-8");
    let some = outcome(&folder, &["-q", "--store", "some", golden]).1;
    let all = outcome(&folder, &["-q", "--store", "all", "--all", golden]).1;
    let (_, more) = some.split_once("\nand ").expect("more causes");
    let more: usize = more.split(' ').next().and_then(|more| more.parse().ok()).expect("a number");
    let causes = |text: &str| {
        let is_cause = |line: &&str| line.starts_with("error[") || line.starts_with("warning[");
        text.lines().filter(is_cause).count()
    };
    assert_eq!(causes(&some), 10);
    // With `--all`, a store has every range of a function, so there may be additional causes.
    assert!(!all.contains("\nand ") && causes(&all) >= 10 + more, "{all}");
}
