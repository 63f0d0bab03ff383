//! The only module that reads input files into memory, and the only one with `unsafe` code.
//!
//! Files are memory-mapped, because most of their bytes are never looked at. Measured with two threads on the 1,732 ELF
//! files (1.8 GB) of a `/usr/lib`: mapping takes 0.06 s of processor time and 7 MB of memory, reading 1.3 s and 185 to
//! 233 MB; with `--coverage`, mapping takes 0.4 s and 35 to 42 MB, reading 1.6 s and 200 MB. Copies of bounded size
//! would exclude files that are too large to copy, and a process that is restarted after SIGBUS has lost its findings.
//! Therefore SIGBUS is handled ([`guarded`]).

mod guarded;

use std::fs::{File, Metadata};
use std::io;
use std::ops::Deref;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use crate::open_file;
use guarded::Map;

/// A file with at most this many bytes of holes may be read completely: linkers leave no holes, and reading this many
/// bytes takes a second.
const MOST_HOLES: u64 = 1 << 30;
/// The unit of `st_blocks`, whatever the file system's block size is (Linux, stat(3type)).
const BLOCK: u64 = 512;

/// The bytes of a file, memory-mapped where possible.
#[derive(Debug)]
pub struct FileBytes {
    bytes: Bytes,
    file: File,
    stamp: Stamp,
    with_large_holes: bool,
}

/// Whether a file has holes of more than 1 GiB. Such a file takes little disk space, so that reading all of it could
/// take arbitrarily long.
#[must_use]
pub fn has_large_holes(metadata: &Metadata) -> bool {
    metadata.len().saturating_sub(metadata.blocks().saturating_mul(BLOCK)) > MOST_HOLES
}

#[derive(Debug)]
enum Bytes {
    Mapped(Map),
    /// The bytes of an empty file, which cannot be mapped, or of a file opened when no further map was available.
    Read(Vec<u8>),
}

/// The identity of a file and the time of its last change: files with equal stamps have equal bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    /// Seconds and nanoseconds since 1970.
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    pub(crate) fn of(metadata: &Metadata) -> Stamp {
        Stamp {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// Checks that `file` still has this stamp.
    ///
    /// # Errors
    /// Returns an error if the file has changed, or if its metadata cannot be read.
    pub(crate) fn holds(self, file: &File) -> io::Result<()> {
        match Stamp::of(&file.metadata()?) == self {
            true => Ok(()),
            false => Err(io::Error::other("it changed while it was read")),
        }
    }
}

impl FileBytes {
    /// Opens and maps a regular file.
    ///
    /// # Errors
    /// Returns the system's error, or an error if `path` is not a regular file.
    pub fn open(path: &Path) -> io::Result<FileBytes> {
        FileBytes::of(open_file(path)?)
    }

    /// Maps a regular file that is open.
    ///
    /// # Errors
    /// Returns the system's error.
    pub fn of(file: File) -> io::Result<FileBytes> {
        let metadata = file.metadata()?;
        let (stamp, with_large_holes) = (Stamp::of(&metadata), has_large_holes(&metadata));
        let bytes = match stamp.size {
            0 => Bytes::Read(Vec::new()),
            size => match Map::of(&file)? {
                Some(map) => Bytes::Mapped(map),
                None => Bytes::Read(read(&file, size)?),
            },
        };
        Ok(FileBytes { bytes, file, stamp, with_large_holes })
    }

    /// The stamp of the file when it was mapped.
    #[must_use]
    pub const fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// Whether the file must not be read completely: see [`has_large_holes`].
    #[must_use]
    pub const fn has_large_holes(&self) -> bool {
        self.with_large_holes
    }

    /// Checks that all bytes read so far were the file's, and that the file has not changed.
    ///
    /// # Errors
    /// Returns an error if the file has changed or a part of it could not be read. Results derived from its bytes are
    /// then invalid.
    pub fn intact(&self) -> io::Result<()> {
        self.stamp.holds(&self.file)?;
        match &self.bytes {
            // The file was truncated and restored, including its times, or the device failed.
            Bytes::Mapped(map) if map.is_broken() => {
                Err(io::Error::other("a part of it cannot be read"))
            }
            Bytes::Read(bytes) if bytes.len() as u64 != self.stamp.size => {
                Err(io::Error::from(io::ErrorKind::UnexpectedEof))
            }
            Bytes::Mapped(_) | Bytes::Read(_) => Ok(()),
        }
    }
}

/// The first `size` bytes of a file, or all if it is shorter.
fn read(file: &File, size: u64) -> io::Result<Vec<u8>> {
    let size = usize::try_from(size).map_err(io::Error::other)?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size)?;
    bytes.resize(size, 0);
    let mut filled = 0;
    while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match file.read_at(rest, filled as u64) {
            Ok(0) => break,
            Ok(length) => filled += length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(filled);
    Ok(bytes)
}

impl Deref for FileBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.bytes {
            Bytes::Mapped(map) => map,
            Bytes::Read(bytes) => bytes,
        }
    }
}

#[cfg(test)]
mod tests;
