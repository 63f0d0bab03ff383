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
    use std::time::SystemTime;

    /// The expected CRC is that of RFC 1952: `gzip -l -v` prints 352441c2 for "abc".
    #[test]
    fn a_file_is_hashed_once() {
        let file = tempfile::NamedTempFile::new().expect("room for a file");
        std::fs::write(file.path(), "abc").expect("writable");
        let open = || FileBytes::open(file.path()).expect("readable");
        assert_eq!(of(&open()), 0x3524_41c2);
        // Another checksum in the place of the one that is kept shows that the file is not hashed again.
        let kept = KNOWN.lock().expect("no panic").insert(open().stamp(), 0x1234_5678);
        assert_eq!(kept, Some(0x3524_41c2));
        assert_eq!(of(&open()), 0x1234_5678);
    }

    #[test]
    fn a_changed_file_is_hashed_again() {
        let file = tempfile::NamedTempFile::new().expect("room for a file");
        std::fs::write(file.path(), "abd").expect("writable");
        let open = || FileBytes::open(file.path()).expect("readable");
        assert_ne!(of(&open()), 0x3524_41c2);
        std::fs::write(file.path(), "abc").expect("writable");
        // Two writes in the same tick of the system's clock may leave the same time.
        file.as_file().set_modified(SystemTime::UNIX_EPOCH).expect("its owner may");
        assert_eq!(of(&open()), 0x3524_41c2);
    }
}
