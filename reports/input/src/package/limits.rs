//! What unpacking may cost: a package's bytes say little about how many come out of it.

use std::cell::Cell;
use std::io::{self, Read};

use crate::MemberCount;
use crate::members::{MEMBERS, size_text};

/// Limits of one input, for all that is packed in it taken together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a member that is held in memory: an ELF file, a static library, a zip inside
    /// something else. A larger one is left out, and told.
    pub member_size: u64,
    /// Bytes that one thread has in memory at the same time: of a zip inside something else, of what is taken out of it,
    /// and of the names of members. A member that does not fit is left out and reported.
    pub held: u64,
    /// Bytes that come out of decompression, or are holes of sparse files.
    pub unpacked_size: u64,
    /// How many times the input's own size may come out of decompression, of what is more than
    /// [`FREE`].
    pub ratio: u64,
    /// Containers and compressions within each other; a package and what it always has inside
    /// count as one. At 0 nothing is unpacked.
    pub depth: u32,
    /// Members, also of archives, folders and links.
    pub members: u64,
}

/// Bytes that may come out of decompression whatever the ratio is: repetitive data of this size
/// costs a fraction of a second.
pub const FREE: u64 = 256 << 20;

impl Default for Limits {
    /// Of Debian 12's 63,488 packages for AMD64, the largest says that it is 2.1 GB when installed,
    /// the most compressed that it is 244 times its size. gzip makes a thousandth of zeros.
    fn default() -> Limits {
        Limits {
            member_size: 1 << 30,
            held: u64::MAX,
            unpacked_size: 64 << 30,
            ratio: 500,
            depth: 12,
            members: MEMBERS,
        }
    }
}

impl Limits {
    /// A count of the members of one input.
    #[must_use]
    pub const fn member_count(&self) -> MemberCount {
        MemberCount::new(self.members, self.held)
    }
}

/// Counts the bytes that come out of all decompressors of one input, and of holes of sparse files.
#[derive(Debug)]
pub(super) struct Meter {
    /// Bytes up to the first one that is too many.
    left: Cell<u64>,
    reason: String,
}

impl Meter {
    /// Of an input of `size` bytes.
    pub(super) fn new(limits: &Limits, size: u64) -> Meter {
        let by_ratio = size.saturating_mul(limits.ratio).max(FREE);
        let most = by_ratio.min(limits.unpacked_size);
        let reason = if most == by_ratio {
            let ratio = limits.ratio;
            format!("more than {ratio} times its size comes out of it (--max-ratio)")
        } else {
            format!("more than {} comes out of it (--max-unpacked-size)", size_text(most))
        };
        Meter { left: Cell::new(most.saturating_add(1)), reason }
    }

    /// Why nothing more is unpacked, once it is so.
    pub(super) fn reached(&self) -> Option<&str> {
        (self.left.get() == 0).then_some(&self.reason)
    }

    /// So many bytes more.
    ///
    /// # Errors
    /// They are too many.
    pub(super) fn count(&self, bytes: usize) -> io::Result<()> {
        let left = self.left.get().saturating_sub(bytes as u64);
        self.left.set(left);
        if left == 0 { Err(io::Error::other(self.reason.clone())) } else { Ok(()) }
    }
}

/// What comes out of a decompressor, counted. After an error it fails with the same one for ever:
/// whoever reads on behind a damaged member has to meet the damage, too.
pub(super) struct Metered<'m, R> {
    inner: R,
    meter: &'m Meter,
    name: &'static str,
    failed: Option<(io::ErrorKind, String)>,
}

impl<'m, R: Read> Metered<'m, R> {
    /// The output of `inner`, a decompressor of the form of compression called `name`.
    pub(super) const fn new(inner: R, name: &'static str, meter: &'m Meter) -> Metered<'m, R> {
        Metered { inner, meter, name, failed: None }
    }
}

impl<R: Read> Read for Metered<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some((kind, text)) = &self.failed {
            return Err(io::Error::new(*kind, text.clone()));
        }
        let read = match self.inner.read(buffer) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                let text = format!("{} data: {error}", self.name);
                Err(io::Error::new(error.kind(), text))
            }
            read => read,
        };
        let read = read.and_then(|length| self.meter.count(length).map(|()| length));
        if let Err(error) = &read {
            self.failed = Some((error.kind(), error.to_string()));
        }
        read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As many bytes as may be are not too many, and one more is.
    #[test]
    fn a_limit_is_what_it_says() {
        let limits = Limits { unpacked_size: 100, ..Limits::default() };
        let read = |bytes: usize| {
            let meter = Meter::new(&limits, 1 << 20);
            let result =
                Metered::new(&vec![0; bytes][..], "x", &meter).read_to_end(&mut Vec::new());
            (result.is_ok(), meter.reached().is_some())
        };
        assert_eq!(read(100), (true, false));
        assert_eq!(read(101), (false, true));
    }
}
