//! Reads what a user names: a file, or a pipe such as `<(git ls-files)`, within a limit.
//!
//! What the program finds by itself is opened by [`open_file`](crate::open_file), which accepts regular files only.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use sframe_record::numbers::grouped;

/// Opens what a user names for reading. A named pipe blocks until somebody writes to it.
///
/// # Errors
/// Returns the system's error, also for folders.
pub fn open_named(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    match file.metadata()?.is_dir() {
        true => Err(io::ErrorKind::IsADirectory.into()),
        false => Ok(file),
    }
}

/// Reads all of what a user names, up to `limit` bytes.
///
/// # Errors
/// Returns the system's error, or an error if there are more bytes.
pub fn read_named(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    read_up_to(open_named(path)?, limit)
}

/// Reads a stream to its end, up to `limit` bytes.
///
/// # Errors
/// Returns the system's error, or an error if there are more bytes.
pub fn read_up_to(stream: impl Read, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        return Err(io::Error::other(format!(
            "it has more than {} bytes, the limit",
            grouped(limit)
        )));
    }
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_without_end_are_read_up_to_the_limit() {
        let why = read_named(Path::new("/dev/zero"), 1000).expect_err("no end").to_string();
        assert_eq!(why, "it has more than 1,000 bytes, the limit");
        assert_eq!(read_up_to(&[7; 1000][..], 1000).expect("as many").len(), 1000);
    }
}
