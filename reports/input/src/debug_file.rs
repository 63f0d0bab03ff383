//! Finds the separate debug file of an ELF file.

use std::fmt;
use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sframe_oracle::debug_file::{Mismatch, candidates, check_with};
use sframe_validator::elf::Elf;

use super::{DebuginfodError, FileBytes, checksum, package, plain_error};
use sframe_record::text::printable_path;

/// A debug file that is known to belong to a file: its build-id or checksum matches.
#[derive(Debug)]
pub struct DebugFile {
    /// Its path. For a file in a package: the path of the package, `!`, and the path in the package.
    pub path: PathBuf,
    /// Its bytes.
    pub data: DebugBytes,
}

/// The bytes of a debug file.
#[derive(Debug)]
pub enum DebugBytes {
    /// The bytes of a file.
    File(FileBytes),
    /// The bytes of a member of a package.
    Member(Arc<Vec<u8>>),
    /// Not read, because it has no CFI.
    WithoutCfi,
}

/// Why a debug file is not used: its path as in [`DebugFile`], and the reason.
#[derive(Debug)]
#[non_exhaustive]
pub enum DebugFileError {
    /// It has changed since it was opened, or a part of it cannot be read.
    Changed(PathBuf, io::Error),
    /// It has holes of more than 1 GiB.
    Holes(PathBuf),
    /// It belongs to another file.
    Mismatch(PathBuf, Mismatch),
    /// Its package cannot be opened.
    Unopened(PathBuf, io::Error),
    /// Its package cannot be read.
    Package(PathBuf, package::Error),
    /// It is no longer in the package.
    Gone(PathBuf),
    /// Servers, or the cache of what they have sent, have failed.
    Servers(DebuginfodError),
}

impl From<DebuginfodError> for DebugFileError {
    fn from(error: DebuginfodError) -> DebugFileError {
        DebugFileError::Servers(error)
    }
}

impl fmt::Display for DebugFileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use DebugFileError as Error;
        let of = |path| printable_path(path);
        match self {
            Error::Changed(path, error) => write!(f, "{}: {}", of(path), plain_error(error)),
            Error::Holes(path) => write!(f, "{} has holes of more than 1 GiB", of(path)),
            Error::Mismatch(path, mismatch) => {
                write!(f, "{} is not its debug file: {mismatch}", of(path))
            }
            Error::Unopened(path, error) => {
                write!(f, "{} cannot be read: {}", of(path), plain_error(error))
            }
            Error::Package(path, error) => write!(f, "{} cannot be read: {error}", of(path)),
            Error::Gone(path) => {
                write!(f, "{} cannot be read: it is no longer in the package", of(path))
            }
            Error::Servers(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for DebugFileError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        use DebugFileError as Error;
        match self {
            Error::Changed(_, error) | Error::Unopened(_, error) => Some(error),
            Error::Mismatch(_, mismatch) => Some(mismatch),
            Error::Package(_, error) => Some(error),
            Error::Servers(error) => Some(error),
            Error::Holes(_) | Error::Gone(_) => None,
        }
    }
}

impl Deref for DebugBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            DebugBytes::File(bytes) => bytes,
            DebugBytes::Member(bytes) => bytes,
            DebugBytes::WithoutCfi => &[],
        }
    }
}

impl DebugFile {
    /// Checks that the file has not changed since it was opened.
    ///
    /// # Errors
    /// Returns an error if it has: see [`FileBytes::intact`].
    pub fn intact(&self) -> Result<(), DebugFileError> {
        let DebugBytes::File(bytes) = &self.data else { return Ok(()) };
        bytes.intact().map_err(|error| DebugFileError::Changed(self.path.clone(), error))
    }

    /// Looks for the debug file of `elf`, which was read from `path`, below `folders` and beside the file; `None` if
    /// there is none.
    ///
    /// # Errors
    /// Returns an error if files with the right name exist but none matches. The message contains the path and the
    /// mismatch.
    pub fn find(
        path: &Path,
        elf: &Elf<'_>,
        folders: &[PathBuf],
    ) -> Result<Option<DebugFile>, DebugFileError> {
        let mut refused = None;
        for path in candidates(path, elf, folders) {
            let Ok(data) = FileBytes::open(&path) else { continue };
            if data.has_large_holes() {
                refused = Some(DebugFileError::Holes(path));
                continue;
            }
            match check_with(elf, &data, || checksum::of(&data)) {
                Ok(()) => return Ok(Some(DebugFile { path, data: DebugBytes::File(data) })),
                Err(mismatch) => refused = Some(DebugFileError::Mismatch(path, mismatch)),
            }
        }
        refused.map_or(Ok(None), Err)
    }
}
