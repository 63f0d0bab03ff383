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
    /// `None` once an index was left out.
    left: Cell<Option<u64>>,
}

impl Default for Room {
    fn default() -> Room {
        Room { left: Cell::new(Some(TOGETHER)) }
    }
}

impl Room {
    /// Hands the decompressed bytes of an index to `read`, which sees an error once there are more than 512 MiB. An index is
    /// not read if those before it have left less than that of the 16 GiB.
    pub(super) fn read(
        &self,
        index: impl Read,
        read: impl FnOnce(&mut dyn Read) -> io::Result<()>,
    ) -> io::Result<()> {
        let Some(before) = self.left.get().filter(|left| *left >= INDEX) else {
            self.left.set(None);
            let (least, most) = (INDEX >> 20, TOGETHER >> 30);
            return Err(other(&format!(
                "the indexes before it leave less than {least} MiB of the {most} GiB for all of them: \
                 the rest is not read"
            )));
        };
        unpacked(index, |inner| {
            let mut bounded = Bounded { inner, most: INDEX, left: INDEX };
            let result = read(&mut bounded);
            self.left.set(Some(before - (INDEX - bounded.left)));
            result
        })
    }

    /// Whether an index was left out, so that those after it are as well.
    pub(super) fn is_used_up(&self) -> bool {
        self.left.get().is_none()
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
        let room = Room { left: Cell::new(Some(INDEX + 35)) };
        let read = |bytes: &[u8]| {
            room.read(bytes, |stream| stream.read_to_end(&mut Vec::new()).map(|_| ()))
                .map_err(|error| error.to_string())
        };
        assert_eq!(read(&[b'x'; 34]), Ok(()));
        assert_eq!(room.left.get(), Some(INDEX + 1));
        assert_eq!(read(b"xx"), Ok(()));
        assert!(!room.is_used_up());
        let why = "the indexes before it leave less than 512 MiB of the 16 GiB for all of them: \
                   the rest is not read";
        assert_eq!(read(b"x"), Err(why.to_owned()));
        assert!(room.is_used_up());
    }
}
