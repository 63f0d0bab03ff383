//! The one place where files become bytes, and the one place with `unsafe` code.

mod guarded;

use std::fs::{File, Metadata};
use std::io;
use std::ops::Deref;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;

use crate::open_file;
use guarded::Map;

/// The bytes of a file, mapped where the system can.
#[derive(Debug)]
pub struct FileBytes {
    bytes: Bytes,
    file: File,
    stamp: Stamp,
}

#[derive(Debug)]
enum Bytes {
    Mapped(Map),
    /// Of a file that is empty, which cannot be mapped, or was opened while as many as can be were mapped.
    Read(Vec<u8>),
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
        let stamp = Stamp::of(&file.metadata()?);
        let bytes = match stamp.size {
            0 => Bytes::Read(Vec::new()),
            size => match Map::of(&file)? {
                Some(map) => Bytes::Mapped(map),
                None => Bytes::Read(read(&file, size)?),
            },
        };
        Ok(FileBytes { bytes, file, stamp })
    }

    /// Which file they are of, as it was when it was mapped.
    #[must_use]
    pub const fn stamp(&self) -> Stamp {
        self.stamp
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
