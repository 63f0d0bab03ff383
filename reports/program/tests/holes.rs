//! Files with large holes, which take no space on disk, take no time in a scan either.

#![allow(clippy::indexing_slicing, reason = "a test program: it may panic")]

mod packing;

use std::fs::File;

use packing::Folder;

const PROGRAM: &str = "golden/2.47.50/x86_64/static.exe";
/// The size of a file with a hole. Reading it takes an hour of processor time.
const LARGE: u64 = 8 << 40;
/// The processor time of a scan in seconds, after which the system ends it. A scan that reads no hole takes less than one.
const PROCESSOR_TIME: u64 = 30;

/// A folder with a program in it, and two copies with large holes after their last byte.
fn folder(name: &str) -> Folder {
    let folder = Folder::new(&format!("holes-{name}"));
    for name in ["program", "first", "second"] {
        folder.copy(PROGRAM, name);
    }
    for name in ["first", "second"] {
        let file = File::options().write(true).open(folder.path(name)).expect("writable");
        file.set_len(LARGE).expect("disk space");
    }
    folder
}

fn quickly(folder: &Folder, arguments: &[&str]) -> String {
    let (status, text) = folder.check_within(PROCESSOR_TIME, arguments);
    assert_eq!(status, 0, "{arguments:?}: {text}");
    text
}

/// Copies are recognised by comparing the bytes of files with the same size and start, but not for these files.
#[test]
fn files_with_large_holes_are_checked_without_reading_them() {
    let folder = folder("plain");
    let text = quickly(&folder, &["first", "second", "program"]);
    assert!(text.contains("3 files checked, 3 with an SFrame section"), "{text}");
}

/// Files with large holes are not hashed for a store, so `--previous` does not recognise them.
#[test]
fn a_store_has_no_hash_of_files_with_large_holes() {
    let folder = folder("store");
    let inputs = ["first", "second", "program"];
    let text = quickly(&folder, &[&["--store", "one"], &inputs[..]].concat());
    assert!(text.contains("3 files checked, 3 with an SFrame section"), "{text}");
    let text = quickly(&folder, &[&["--store", "two", "--previous", "one"], &inputs[..]].concat());
    assert!(text.contains("3 files checked, 3 with an SFrame section"), "{text}");
}

/// A package would have to be read from start to end.
#[test]
fn a_package_with_large_holes_is_refused() {
    let folder = folder("package");
    if !folder.make("tar", "tar -cf x.tar program && truncate -s 8T x.tar") {
        return;
    }
    let (status, text) = folder.check_within(PROCESSOR_TIME, &["-v", "x.tar", "program"]);
    assert!(text.contains("x.tar: cannot be read: it has holes of more than 1 GiB"), "{text}");
    assert_eq!(status, 2);
}
