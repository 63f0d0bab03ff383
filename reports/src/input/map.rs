//! The one place where files become bytes, and the one place with `unsafe` code.

use std::fs::File;
use std::io;
use std::ops::Deref;
use std::path::Path;

use memmap2::Mmap;

/// The bytes of a file, mapped where the system can.
#[derive(Debug)]
pub struct FileBytes {
    /// `None` for an empty file, which cannot be mapped.
    map: Option<Mmap>,
}

impl FileBytes {
    /// Opens and maps a regular file.
    ///
    /// # Errors
    /// What the system says. A FIFO or device is to be kept away from here: opening it may block.
    pub fn open(path: &Path) -> io::Result<FileBytes> {
        let file = File::open(path)?;
        FileBytes::of(&file)
    }

    /// Maps a regular file that is open.
    ///
    /// # Errors
    /// What the system says.
    pub fn of(file: &File) -> io::Result<FileBytes> {
        if file.metadata()?.len() == 0 {
            return Ok(FileBytes { map: None });
        }
        Ok(FileBytes { map: Some(map(file)?) })
    }
}

/// Another process that shortens the file while it is mapped ends this one with SIGBUS; that is
/// the price of not copying a distribution through memory, and the same as in every linker.
#[allow(unsafe_code)]
fn map(file: &File) -> io::Result<Mmap> {
    // SAFETY: the map is read-only and private to the process. Bytes that another process changes
    // under it are read as some bytes or other; the readers above accept any.
    unsafe { Mmap::map(file) }
}

impl Deref for FileBytes {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }
}
