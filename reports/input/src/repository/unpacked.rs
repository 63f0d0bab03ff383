//! The bytes of an index, decompressed, up to a limit.

use std::cell::Cell;
use std::io::{self, Read};

use sframe_record::numbers::grouped;

use super::other;
use crate::package::unpacked;

/// The maximum size of a decompressed index in bytes. Debian's largest has about 60 MB, Fedora's about 200 MB.
const INDEX: u64 = 512 << 20;
/// The maximum size of all decompressed indexes of a repository. A hundred like Debian's largest have 6 GB.
const TOGETHER: u64 = 16 << 30;

/// What the indexes of a repository may still have, decompressed.
pub(super) struct Room {
    left: Cell<u64>,
}

impl Default for Room {
    fn default() -> Room {
        Room { left: Cell::new(TOGETHER) }
    }
}

impl Room {
    /// Hands the decompressed bytes of an index to `read`, which sees an error once there are more than 512 MiB, or more
    /// than 16 GiB with the indexes before it.
    pub(super) fn read(
        &self,
        index: impl Read,
        read: impl FnOnce(&mut dyn Read) -> io::Result<()>,
    ) -> io::Result<()> {
        let before = self.left.get();
        if before <= INDEX {
            self.left.set(0);
            let most = TOGETHER >> 30;
            return Err(other(&format!(
                "the indexes have more than {most} GiB together, the limit: others are not read"
            )));
        }
        unpacked(index, |inner| {
            let mut bounded = Bounded { inner, most: INDEX, left: INDEX };
            let result = read(&mut bounded);
            self.left.set(before - (INDEX - bounded.left));
            result
        })
    }

    /// Whether an index was left out, so that those after it are as well.
    pub(super) fn is_used_up(&self) -> bool {
        self.left.get() == 0
    }
}

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
        self.left = left.unwrap_or(0);
        match left {
            Some(_) => Ok(length),
            None => {
                Err(other(&format!("it has more than {} bytes, the limit", grouped(self.most))))
            }
        }
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

    #[test]
    fn the_indexes_of_a_repository_have_a_limit_together() {
        let room = Room { left: Cell::new(INDEX + 35) };
        let read = |bytes: &[u8]| {
            room.read(bytes, |stream| stream.read_to_end(&mut Vec::new()).map(|_| ()))
                .map_err(|error| error.to_string())
        };
        assert_eq!(read(&[b'x'; 34]), Ok(()));
        assert_eq!(room.left.get(), INDEX + 1);
        assert_eq!(read(b"x"), Ok(()));
        assert!(!room.is_used_up());
        let why = "the indexes have more than 16 GiB together, the limit: others are not read";
        assert_eq!(read(b"x"), Err(why.to_owned()));
        assert!(room.is_used_up());
    }
}
