//! The separate debug file of a file.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sframe_oracle::debug_file::{candidates, check_with};
use sframe_validator::elf::Elf;

use super::{FileBytes, checksum, plain_error};
use sframe_record::text::printable_path;

/// A debug file that belongs to a file for certain.
#[derive(Debug)]
pub struct DebugFile {
    /// Where it is; in a package, with a `!` behind the package's path.
    pub path: PathBuf,
    /// Its bytes.
    pub data: DebugBytes,
}

/// The bytes of a debug file.
#[derive(Debug)]
pub enum DebugBytes {
    /// A file's.
    File(FileBytes),
    /// A package's member's.
    Member(Arc<Vec<u8>>),
    /// Not read, for it has no CFI.
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
    /// That its bytes were the same all the time.
    ///
    /// # Errors
    /// That they were not: see [`FileBytes::intact`].
    pub fn intact(&self) -> Result<(), String> {
        let DebugBytes::File(bytes) = &self.data else { return Ok(()) };
        let why = |error| format!("{}: {}", printable_path(&self.path), plain_error(&error));
        bytes.intact().map_err(why)
    }

    /// Looks for the debug file of `elf`, which was read from `path`, below `folders` and beside
    /// the file; `None` where there is none.
    ///
    /// # Errors
    /// Where there are files of the right name, and none is the file's own: which, and why not.
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
