//! Files that stay mapped while others are added.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use elsa::FrozenVec;
use sframe_input::{DebugBytes, DebugFile, FileBytes, plain_error};
use sframe_validator::text::Text;

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
    /// The reason, for people, why it cannot be opened.
    pub fn open(&self, path: &Path) -> Result<&FileBytes, String> {
        let bytes = FileBytes::open(path).map_err(|error| plain_error(&error))?;
        Ok(self.keep_file(path.to_owned(), bytes))
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
    /// The path of the first file that has changed or of which a part cannot be read, and the reason, for people.
    pub fn intact(&self) -> Result<(), String> {
        self.mapped.iter().try_for_each(|(path, bytes)| {
            let reason = |error| unusable_file(path.as_os_str().as_bytes(), &plain_error(&error));
            bytes.intact().map_err(reason)
        })
    }
}

/// Why a file cannot be used, for people, with its path or name.
pub(crate) fn unusable_file(file: &[u8], reason: &str) -> String {
    format!("{} cannot be used: {reason}", Text::of(file))
}
