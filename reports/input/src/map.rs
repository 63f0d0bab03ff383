//! The one place where files become bytes, and the one place with `unsafe` code.
//!
//! Files are mapped, for most of their bytes are never looked at. The 1,732 ELF files of 1.8 GB below a `/usr/lib`, on two
//! threads: mapped 0.06 s of processor time and 7 MB of memory, read 1.3 s and 185 to 233 MB; with `--coverage` 0.4 s and
//! 35 to 42 MB against 1.6 s and 200 MB. A copy of bounded size would leave out the files that only maps can hold, and a
//! process that is started again after SIGBUS has lost what the first one found. So SIGBUS is handled ([`guarded`]).

mod guarded;

use std::fs::{File, Metadata};
use std::io;
use std::ops::Deref;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use crate::open_file;
use guarded::Map;

/// Bytes of holes in a file, up to which all of it may be read: a linker leaves none, and to read this many takes a second.
const MOST_HOLES: u64 = 1 << 30;
/// Of a block in `st_blocks`, whatever the file system's own are (Linux, stat(3type)).
const BLOCK: u64 = 512;

/// The bytes of a file, mapped where the system can.
#[derive(Debug)]
pub struct FileBytes {
    bytes: Bytes,
    file: File,
    stamp: Stamp,
    with_large_holes: bool,
}

/// Whether a file has holes of more than 1 GiB: it takes no space, so that nothing which reads all of it has a bound.
#[must_use]
pub fn has_large_holes(metadata: &Metadata) -> bool {
    metadata.len().saturating_sub(metadata.blocks().saturating_mul(BLOCK)) > MOST_HOLES
}

#[derive(Debug)]
enum Bytes {
    Mapped(Map),
    /// Of a file that is empty, which cannot be mapped, or was opened while as many as can be were mapped.
    Read(Vec<u8>),
}

/// Which file it is, and when it was last changed: two files with the same have the same bytes.
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

    /// That this still is the stamp of `file`.
    ///
    /// # Errors
    /// That it is not, or why that cannot be known.
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
    /// What the system says, or that there is something else.
    pub fn open(path: &Path) -> io::Result<FileBytes> {
        FileBytes::of(open_file(path)?)
    }

    /// Maps a regular file that is open.
    ///
    /// # Errors
    /// What the system says.
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

    /// Which file they are of, as it was when it was mapped.
    #[must_use]
    pub const fn stamp(&self) -> Stamp {
        self.stamp
    }

    /// Whether not all of it is to be read: see [`has_large_holes`].
    #[must_use]
    pub const fn has_large_holes(&self) -> bool {
        self.with_large_holes
    }

    /// That all bytes that were looked at were the file's, and the same all the time.
    ///
    /// # Errors
    /// That the file changed while it was read, or that a part of it could not be read: what was made of the bytes is
    /// void.
    pub fn intact(&self) -> io::Result<()> {
        self.stamp.holds(&self.file)?;
        match &self.bytes {
            // It was restored to its size and times, or the device failed.
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

/// The first `size` bytes of a file, or all that there are.
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
