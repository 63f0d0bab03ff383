//! The separate debug file of a file.

use std::path::{Path, PathBuf};

use sframe_oracle::debug_file::{candidates, check};
use sframe_validator::elf::Elf;

use super::FileBytes;
use crate::printable::printable_path;

/// A debug file that belongs to a file for certain.
#[derive(Debug)]
pub struct DebugFile {
    /// Where it is.
    pub path: PathBuf,
    /// Its bytes.
    pub data: FileBytes,
}

impl DebugFile {
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
            // Opening what is not a regular file may block.
            if !path.metadata().is_ok_and(|metadata| metadata.is_file()) {
                continue;
            }
            let Ok(data) = FileBytes::open(&path) else { continue };
            match check(elf, &data) {
                Ok(()) => return Ok(Some(DebugFile { path, data })),
                Err(why) => {
                    refused =
                        Some(format!("{} is not its debug file: {why}", printable_path(&path)));
                }
            }
        }
        refused.map_or(Ok(None), Err)
    }
}
