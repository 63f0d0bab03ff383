//! Checksums of debug files. Each file is read only once, since many files may refer to the same debug file.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use crate::{FileBytes, Stamp};

/// How many checksums are kept, about 100 bytes each. Once this is full, further files are read each time.
const REMEMBERED: usize = 1 << 16;

static KNOWN: Mutex<BTreeMap<Stamp, u32>> = Mutex::new(BTreeMap::new());

/// The CRC-32 of a file's bytes, as stored in `.gnu_debuglink`.
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

    /// The expected CRC is that of RFC 1952: `gzip -l -v` prints 352441c2 for "abc".
    #[test]
    fn a_file_is_hashed_once() {
        let file = tempfile::NamedTempFile::new().expect("room for a file");
        std::fs::write(file.path(), "abc").expect("writable");
        let open = || FileBytes::open(file.path()).expect("readable");
        assert_eq!((of(&open()), of(&open())), (0x3524_41c2, 0x3524_41c2));
        std::fs::write(file.path(), "abd").expect("writable");
        assert_ne!(of(&open()), 0x3524_41c2);
        // Hashing this takes at least a quarter of a second; hashing it for each call would take a hundred times as
        // long.
        file.as_file().set_len(256 << 20).expect("room for holes");
        let started = Instant::now();
        let first = of(&open());
        let once = started.elapsed();
        assert!((0..100).all(|_| of(&open()) == first));
        assert!(started.elapsed() < 10 * once, "{:?} after {once:?}", started.elapsed());
    }
}
