#![allow(clippy::indexing_slicing, reason = "tests: they may panic")]

use super::*;
use std::fs;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Makes these tests run one after the other, because one of them uses all map slots.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

const SIZE: usize = 64 << 12;

/// A file of `SIZE` non-zero bytes.
fn file() -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().expect("disk space");
    fs::write(file.path(), vec![0xa5; SIZE]).expect("writable");
    file
}

fn why(bytes: &FileBytes) -> String {
    bytes.intact().expect_err("it has changed").to_string()
}

/// Without a handler, reading the first byte past the new end kills the process.
#[test]
fn missing_pages_read_as_zeros() {
    let _alone = alone();
    let file = file();
    let bytes = FileBytes::open(file.path()).expect("readable");
    assert_eq!(bytes[SIZE / 2], 0xa5);
    assert!(bytes.intact().is_ok());
    file.as_file().set_len(SIZE as u64 / 4 + 1).expect("writable");
    // POSIX, mmap(): the rest of the last page reads as zeros; a reference past that page raises SIGBUS.
    assert_eq!((bytes[SIZE / 4], bytes[SIZE / 4 + 1]), (0xa5, 0));
    assert!(bytes[SIZE / 2..].iter().all(|byte| *byte == 0));
    assert_eq!((bytes[0], bytes.len()), (0xa5, SIZE));
    assert_eq!(why(&bytes), "it changed while it was read");
    // A file mapped afterwards is unaffected.
    let other = self::file();
    let other = FileBytes::open(other.path()).expect("readable");
    assert!(other.intact().is_ok() && other.iter().all(|byte| *byte == 0xa5));
}

/// Once bytes have been replaced by zeros, the map is invalid, even if the file is restored.
#[test]
fn a_broken_map_stays_broken() {
    let _alone = alone();
    let file = file();
    let bytes = FileBytes::open(file.path()).expect("readable");
    file.as_file().set_len(0).expect("writable");
    assert_eq!(bytes[SIZE - 1], 0);
    fs::write(file.path(), vec![0xa5; SIZE]).expect("writable");
    assert_eq!(bytes[SIZE - 1], 0);
    assert!(bytes.intact().is_err());
}

#[test]
fn overwriting_without_changing_the_size_is_a_change() {
    let _alone = alone();
    let file = file();
    let bytes = FileBytes::open(file.path()).expect("readable");
    file.as_file().write_at(&[1], 7).expect("writable");
    assert_eq!(why(&bytes), "it changed while it was read");
}

/// Files are read into memory when no map slot is free.
#[test]
fn files_that_cannot_be_mapped_are_read() {
    let _alone = alone();
    let file = file();
    let open = || FileBytes::open(file.path()).expect("readable");
    let all: Vec<FileBytes> = (0..300).map(|_| open()).collect();
    assert!(all.iter().any(|bytes| matches!(bytes.bytes, Bytes::Read(_))));
    assert!(all.iter().all(|bytes| bytes[..] == vec![0xa5; SIZE] && bytes.intact().is_ok()));
    drop(all);
    assert!(matches!(open().bytes, Bytes::Mapped(_)));
}

#[test]
fn threads_survive_shrinking_files() {
    let _alone = alone();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for turn in 0..50 {
                    let file = file();
                    let bytes = FileBytes::open(file.path()).expect("readable");
                    file.as_file().set_len(turn * 1000).expect("writable");
                    let sum: u64 = bytes.iter().map(|byte| u64::from(*byte)).sum();
                    assert_eq!(sum, 0xa5 * turn * 1000);
                    assert!(bytes.intact().is_err());
                }
            });
        }
    });
}
