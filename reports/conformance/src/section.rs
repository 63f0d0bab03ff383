//! A section's bytes, as vectors and readers exchange them.

use serde::{Deserialize, Serialize};

use crate::address::Address;

/// A section's bytes and what a reader has to know about them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// `amd64`, `aarch64`, `aarch64_be` or `s390x`.
    pub machine: String,
    /// `little` or `big`.
    pub byte_order: String,
    /// The address of the first byte.
    pub address: Address,
    /// The bytes, in hexadecimal.
    pub hex: String,
}

impl Section {
    /// The bytes; `None` if the text is not hexadecimal.
    #[must_use]
    pub fn bytes(&self) -> Option<Vec<u8>> {
        bytes(&self.hex)
    }
}

/// The bytes of a text in hexadecimal.
pub(crate) fn bytes(hex: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u32>> = hex.chars().map(|digit| digit.to_digit(16)).collect();
    let (pairs, rest) = digits.as_deref()?.as_chunks::<2>();
    let join = |[high, low]: &[u32; 2]| u8::try_from(high << 4 | low).ok();
    if rest.is_empty() { pairs.iter().map(join).collect() } else { None }
}

#[cfg(test)]
mod tests {
    use super::bytes;

    #[test]
    fn hexadecimal_is_read_in_pairs() {
        assert_eq!(bytes("e2DE00"), Some(vec![0xe2, 0xde, 0]));
        assert_eq!(bytes(""), Some(vec![]));
        assert_eq!(bytes("e2d"), None);
        assert_eq!(bytes("e2dx"), None);
        assert_eq!(bytes("é1"), None);
    }
}
