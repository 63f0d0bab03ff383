//! The size and hash of a file's bytes.

use sframe_record::json::hex;

/// The size and hash of a file's bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Content {
    /// The number of bytes.
    pub size: u64,
    /// Their BLAKE3 hash.
    pub hash: [u8; 32],
}

impl Content {
    /// The size and hash of `data`.
    #[must_use]
    pub fn of(data: &[u8]) -> Content {
        Content { size: data.len() as u64, hash: blake3::hash(data).into() }
    }
}

impl From<Content> for sframe_record::Content<'static> {
    fn from(content: Content) -> sframe_record::Content<'static> {
        sframe_record::Content { size: content.size, hash: hex(&content.hash).into() }
    }
}

#[cfg(test)]
mod tests {
    use super::Content;

    /// The expected hash of "abc" is the output of `b3sum`.
    #[test]
    fn content_is_size_and_hash() {
        let content = sframe_record::Content::from(Content::of(b"abc"));
        assert_eq!(content.size, 3);
        let wanted = "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85";
        assert_eq!(content.hash.as_str(), wanted);
    }
}
