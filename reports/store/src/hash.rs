//! Content hashes.

use std::fmt;
use std::io;
use std::str::FromStr;

use serde::{Serialize, Serializer};

/// A BLAKE3 hash of 32 bytes, written as 64 lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash([u8; 32]);

impl ContentHash {
    /// The hash of `bytes`.
    ///
    /// ```
    /// // The first test vector that BLAKE3's authors publish: no bytes.
    /// let hash = sframe_store::ContentHash::of(b"");
    /// assert!(hash.to_string().starts_with("af1349b9f5f9a1a6a0404dea36dcc949"));
    /// ```
    #[must_use]
    pub fn of(bytes: &[u8]) -> ContentHash {
        blake3::hash(bytes).into()
    }

    /// The hash of everything that a reader returns.
    ///
    /// # Errors
    /// Returns an error if reading fails.
    pub fn of_reader(reader: impl io::Read) -> io::Result<ContentHash> {
        let mut hasher = blake3::Hasher::new();
        hasher.update_reader(reader)?;
        Ok(hasher.finalize().into())
    }

    /// Its first 128 bits: half the memory, and enough to look up one of a few million hashes.
    pub(crate) fn short(&self) -> [u8; 16] {
        let mut short = [0; 16];
        short.copy_from_slice(self.0.split_at(16).0);
        short
    }

    /// Its bytes.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl From<[u8; 32]> for ContentHash {
    fn from(bytes: [u8; 32]) -> ContentHash {
        ContentHash(bytes)
    }
}

impl From<blake3::Hash> for ContentHash {
    fn from(hash: blake3::Hash) -> ContentHash {
        ContentHash(hash.into())
    }
}

impl FromStr for ContentHash {
    type Err = NotAHash;

    /// Parses 64 hexadecimal digits. Upper-case digits are refused, so that each hash has one text.
    fn from_str(text: &str) -> Result<ContentHash, NotAHash> {
        if text.bytes().any(|digit| digit.is_ascii_uppercase()) {
            return Err(NotAHash);
        }
        blake3::Hash::from_hex(text).map(ContentHash::from).map_err(|_| NotAHash)
    }
}

/// The text is not a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAHash;

impl fmt::Display for NotAHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a hash is 64 hexadecimal digits in lower case")
    }
}

impl std::error::Error for NotAHash {}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&blake3::Hash::from(self.0).to_hex())
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Serialize for ContentHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&blake3::Hash::from(self.0).to_hex())
    }
}
