//! The one place where files become bytes, and the one place with `unsafe` code.

use std::fs::{File, Metadata};
use std::io;
use std::ops::Deref;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use memmap2::Mmap;

/// The bytes of a file, mapped where the system can.
#[derive(Debug)]
pub struct FileBytes {
    /// `None` for an empty file, which cannot be mapped.
    map: Option<Mmap>,
    stamp: Stamp,
}

/// Which file it is, and when it was last changed: two files with the same have the same bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    /// Seconds and nanoseconds since 1970.
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    fn of(metadata: &Metadata) -> Stamp {
        Stamp {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }
}

impl FileBytes {
    /// Opens and maps a regular file.
    ///
    /// # Errors
    /// What the system says. A FIFO or device is to be kept away from here: opening it may block.
    pub fn open(path: &Path) -> io::Result<FileBytes> {
        let file = File::open(path)?;
        FileBytes::of(&file)
    }

    /// Maps a regular file that is open.
    ///
    /// # Errors
    /// What the system says.
    pub fn of(file: &File) -> io::Result<FileBytes> {
        let stamp = Stamp::of(&file.metadata()?);
        let map = if stamp.size == 0 { None } else { Some(map(file)?) };
        Ok(FileBytes { map, stamp })
    }

    /// Which file they are of, as it was when it was mapped.
    #[must_use]
    pub const fn stamp(&self) -> Stamp {
        self.stamp
    }
}

/// Another process that shortens the file while it is mapped ends this one with SIGBUS; that is
/// the price of not copying a distribution through memory, and the same as in every linker.
#[allow(unsafe_code)]
fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: the map is read-only and private to the process. Bytes that another process changes
    // under it are read as some bytes or other; the readers above accept any.
    unsafe { Mmap::map(file) }
}

impl Deref for FileBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }
}
