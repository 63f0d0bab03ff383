//! Files that stay mapped while others are added.

use std::path::Path;

use elsa::FrozenVec;
use sframe_input::{DebugBytes, DebugFile, FileBytes, plain_error};

/// Files and images of memory. Their bytes are valid as long as this value, also while further files are added.
#[derive(Default)]
pub struct Files {
    mapped: FrozenVec<Box<FileBytes>>,
    images: FrozenVec<Vec<u8>>,
}

impl Files {
    /// Maps a regular file.
    ///
    /// # Errors
    /// The reason, for people, why it cannot be opened.
    pub fn open(&self, path: &Path) -> Result<&FileBytes, String> {
        let bytes = FileBytes::open(path).map_err(|error| plain_error(&error))?;
        Ok(self.mapped.push_get(Box::new(bytes)))
    }

    /// Keeps a separate debug file; `None` if its bytes were not read.
    pub(crate) fn keep_debug_file(&self, file: DebugFile) -> Option<&FileBytes> {
        match file.data {
            DebugBytes::File(bytes) => Some(self.mapped.push_get(Box::new(bytes))),
            DebugBytes::Member(_) | DebugBytes::WithoutCfi => None,
        }
    }

    /// Keeps bytes that are not a part of a file: an image read from memory, such as the vDSO, or a decompressed section.
    pub fn keep(&self, image: Vec<u8>) -> &[u8] {
        self.images.push_get(image)
    }

    /// Checks that no file has changed since it was mapped.
    ///
    /// # Errors
    /// The reason, for people, of the first file that has changed or of which a part cannot be read.
    pub fn intact(&self) -> Result<(), String> {
        self.mapped.iter().try_for_each(|file| file.intact().map_err(|error| plain_error(&error)))
    }
}
