//! The bytes of an index, decompressed, up to a limit.

use std::io::{self, Read};

use sframe_record::numbers::grouped;

use super::other;
use crate::package::unpacked;

/// The maximum size of a decompressed index in bytes. Debian's largest has about 60 MB, Fedora's about 200 MB.
pub(super) const INDEX: u64 = 512 << 20;

/// Hands the decompressed bytes of `stream` to `read`, which sees an error once there are more than `most`.
pub(super) fn read(
    stream: impl Read,
    most: u64,
    read: impl FnOnce(&mut dyn Read) -> io::Result<()>,
) -> io::Result<()> {
    unpacked(stream, |inner| read(&mut Bounded { inner, most, left: most }))
}

struct Bounded<'s> {
    inner: &'s mut dyn Read,
    most: u64,
    left: u64,
}

impl Read for Bounded<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.inner.read(buffer)?;
        let left = self.left.checked_sub(length as u64);
        self.left = left.ok_or_else(|| {
            other(&format!("it has more than {} bytes, the limit", grouped(self.most)))
        })?;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_past_the_limit_is_an_error() {
        let size = |most| {
            let mut bytes = Vec::new();
            let result = read(&[b'x'; 35][..], most, |stream| {
                stream.read_to_end(&mut bytes)?;
                Ok(())
            });
            (bytes.len(), result.is_ok())
        };
        assert_eq!(size(35), (35, true));
        assert!(!size(34).1);
    }
}
