//! Files that stay mapped while others are added.

use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use elsa::FrozenVec;
use sframe_input::{DebugBytes, DebugFile, FileBytes};

use crate::error::UnusableFile;

/// Files and images of memory. Their bytes are valid as long as this value, also while further files are added.
#[derive(Default)]
pub struct Files {
    /// The path and the bytes of each file.
    mapped: FrozenVec<Box<(PathBuf, FileBytes)>>,
    images: FrozenVec<Vec<u8>>,
}

impl Files {
    /// Maps a regular file.
    ///
    /// # Errors
    /// Returns the system's error if it cannot be opened.
    pub fn open(&self, path: &Path) -> io::Result<&FileBytes> {
        Ok(self.keep_file(path.to_owned(), FileBytes::open(path)?))
    }

    /// Keeps a separate debug file; `None` if its bytes were not read.
    pub(crate) fn keep_debug_file(&self, file: DebugFile) -> Option<&FileBytes> {
        match file.data {
            DebugBytes::File(bytes) => Some(self.keep_file(file.path, bytes)),
            DebugBytes::Member(_) | DebugBytes::WithoutCfi => None,
        }
    }

    fn keep_file(&self, path: PathBuf, bytes: FileBytes) -> &FileBytes {
        &self.mapped.push_get(Box::new((path, bytes))).1
    }

    /// Keeps bytes that are not a part of a file: an image read from memory, such as the vDSO, or a decompressed section.
    pub fn keep(&self, image: Vec<u8>) -> &[u8] {
        self.images.push_get(image)
    }

    /// Checks that no file has changed since it was mapped.
    ///
    /// # Errors
    /// Returns an error about the first file that has changed or of which a part cannot be read.
    pub fn intact(&self) -> Result<(), UnusableFile> {
        self.mapped.iter().try_for_each(|(path, bytes)| {
            let path = path.as_os_str().as_bytes();
            bytes.intact().map_err(|error| UnusableFile::new(path, error))
        })
    }
}
