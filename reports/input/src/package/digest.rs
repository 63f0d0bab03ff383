//! SHA-256 of streams and bytes.

use std::fmt::Write as _;
use std::io::{self, Read};

use sha2::{Digest, Sha256};

use super::stream::drain;

/// A stream that is hashed as it is read.
pub(super) struct Hashed<R> {
    inner: R,
    hasher: Sha256,
    size: u64,
}

impl<R: Read> Hashed<R> {
    pub(super) fn new(inner: R) -> Hashed<R> {
        Hashed { inner, hasher: Sha256::new(), size: 0 }
    }

    /// Reads the rest of the stream. Returns the size and hash of all its bytes, the hash in hexadecimal digits.
    pub(super) fn finish(mut self) -> io::Result<(u64, String)> {
        drain(&mut self)?;
        Ok((self.size, hexadecimal(&self.hasher.finalize())))
    }
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        self.hasher.update(buffer.get(..length).unwrap_or_default());
        self.size = self.size.saturating_add(length as u64);
        Ok(length)
    }
}

/// The SHA-256 of `bytes` in hexadecimal digits.
pub(super) fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// Whether `text` is a SHA-256: 64 lower-case hexadecimal digits.
pub(crate) fn is_sha256(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}
