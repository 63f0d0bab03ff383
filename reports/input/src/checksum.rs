//! Checksums of debug files, each file read once: many files may name one.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::{FileBytes, Stamp};

/// How many files are remembered, some 100 bytes each. Those that come when this is full are read each time.
const REMEMBERED: usize = 1 << 16;

static KNOWN: Mutex<BTreeMap<Stamp, u32>> = Mutex::new(BTreeMap::new());

/// The CRC-32 of a file's bytes, as `.gnu_debuglink` has it.
pub(crate) fn of(file: &FileBytes) -> u32 {
    let known = || KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(checksum) = known().get(&file.stamp()) {
        return *checksum;
    }
    let checksum = sframe_oracle::debug_file::checksum(file);
    let mut known = known();
    if known.len() < REMEMBERED && file.intact().is_ok() {
        known.insert(file.stamp(), checksum);
    }
    checksum
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    /// RFC 1952 has this polynomial; `gzip -l -v` prints 352441c2 for "abc".
    #[test]
    fn a_file_is_read_once() {
        let file = tempfile::NamedTempFile::new().expect("room for a file");
        std::fs::write(file.path(), "abc").expect("writable");
        let open = || FileBytes::open(file.path()).expect("readable");
        assert_eq!((of(&open()), of(&open())), (0x3524_41c2, 0x3524_41c2));
        std::fs::write(file.path(), "abd").expect("writable");
        assert_ne!(of(&open()), 0x3524_41c2);
        // A quarter of a second and more, and a hundred times as long where each time counts.
        file.as_file().set_len(256 << 20).expect("room for holes");
        let started = Instant::now();
        let first = of(&open());
        let once = started.elapsed();
        assert!((0..100).all(|_| of(&open()) == first));
        assert!(started.elapsed() < 10 * once, "{:?} after {once:?}", started.elapsed());
    }
}
