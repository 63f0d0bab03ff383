//! SHA-2 of streams and bytes.

use std::fmt::Write as _;
use std::io::{self, Read};

use sha2::{Digest, Sha256, Sha512};

use super::stream::drain;

/// The reason for rejecting a file whose bytes do not match its name.
pub(super) const OTHER: &str = "its SHA-256 differs from the one in its name";

/// A hash function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Algorithm {
    Sha256,
    Sha512,
}

impl Algorithm {
    /// Its name.
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Algorithm::Sha256 => "SHA-256",
            Algorithm::Sha512 => "SHA-512",
        }
    }

    /// Whether `text` is one of its hashes: a fixed number of lower-case hexadecimal digits.
    pub(crate) fn is_hash(self, text: &str) -> bool {
        text.len() == self.digits()
            && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    }

    /// The number of hexadecimal digits of a hash.
    pub(crate) const fn digits(self) -> usize {
        match self {
            Algorithm::Sha256 => 64,
            Algorithm::Sha512 => 128,
        }
    }
}

#[derive(Debug)]
enum Hasher {
    Sha256(Sha256),
    Sha512(Sha512),
}

/// A stream that is hashed as it is read.
#[derive(Debug)]
pub(crate) struct Hashed<R> {
    inner: R,
    hasher: Hasher,
    size: u64,
}

impl<R: Read> Hashed<R> {
    pub(crate) fn new(inner: R, algorithm: Algorithm) -> Hashed<R> {
        let hasher = match algorithm {
            Algorithm::Sha256 => Hasher::Sha256(Sha256::new()),
            Algorithm::Sha512 => Hasher::Sha512(Sha512::new()),
        };
        Hashed { inner, hasher, size: 0 }
    }

    /// Reads the rest of the stream. Returns the size and hash of all its bytes, the hash in hexadecimal digits.
    pub(crate) fn finish(mut self) -> io::Result<(u64, String)> {
        drain(&mut self)?;
        let hash = match self.hasher {
            Hasher::Sha256(hasher) => hexadecimal(&hasher.finalize()),
            Hasher::Sha512(hasher) => hexadecimal(&hasher.finalize()),
        };
        Ok((self.size, hash))
    }
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        let bytes = buffer.get(..length).unwrap_or_default();
        match &mut self.hasher {
            Hasher::Sha256(hasher) => hasher.update(bytes),
            Hasher::Sha512(hasher) => hasher.update(bytes),
        }
        self.size = self.size.saturating_add(length as u64);
        Ok(length)
    }
}

/// The SHA-256 of `bytes` in hexadecimal digits.
pub(super) fn sha256(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hashes of "abc" are examples of FIPS 180-4; `sha512sum` prints the same.
    #[test]
    fn streams_are_hashed() {
        let hash = |algorithm| Hashed::new(&b"abc"[..], algorithm).finish().expect("readable");
        let (size, sha256) = hash(Algorithm::Sha256);
        assert_eq!(size, 3);
        assert!(sha256.starts_with("ba7816bf8f01cfea") && Algorithm::Sha256.is_hash(&sha256));
        let (_, sha512) = hash(Algorithm::Sha512);
        assert!(sha512.starts_with("ddaf35a193617aba") && Algorithm::Sha512.is_hash(&sha512));
        assert!(!Algorithm::Sha512.is_hash(&sha256) && !Algorithm::Sha256.is_hash(&sha512));
    }
}
