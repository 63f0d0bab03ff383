//! Finds the separate debug file of an ELF file.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sframe_oracle::debug_file::{candidates, check_with};
use sframe_validator::elf::Elf;

use super::{FileBytes, checksum, plain_error};
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
    pub fn intact(&self) -> Result<(), String> {
        let DebugBytes::File(bytes) = &self.data else { return Ok(()) };
        let why = |error| format!("{}: {}", printable_path(&self.path), plain_error(&error));
        bytes.intact().map_err(why)
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
    ) -> Result<Option<DebugFile>, String> {
        let mut refused = None;
        for path in candidates(path, elf, folders) {
            let Ok(data) = FileBytes::open(&path) else { continue };
            if data.has_large_holes() {
                refused = Some(format!("{} has holes of more than 1 GiB", printable_path(&path)));
                continue;
            }
            match check_with(elf, &data, || checksum::of(&data)) {
                Ok(()) => return Ok(Some(DebugFile { path, data: DebugBytes::File(data) })),
                Err(why) => {
                    refused =
                        Some(format!("{} is not its debug file: {why}", printable_path(&path)));
                }
            }
        }
        refused.map_or(Ok(None), Err)
    }
}
