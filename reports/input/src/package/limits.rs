//! Limits of unpacking: the size of a package says little about the size of its contents.

use std::cell::Cell;
use std::io::{self, Read};

use crate::members::MEMBERS;
use crate::{ExceededLimit, MemberCount};

/// Limits that apply to one input together with everything nested in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The maximum size in bytes of a member that has to be in memory: an ELF file, a static library, a nested zip
    /// file. A larger one is skipped and reported.
    pub member_size: u64,
    /// The maximum number of bytes that one thread holds in memory at a time: nested zip files, the member extracted
    /// from them, and the names of members. A member that does not fit is skipped and reported.
    pub held: u64,
    /// The maximum number of bytes produced by decompression or by holes of sparse files.
    pub unpacked_size: u64,
    /// The maximum ratio of unpacked bytes to the input's own size; it applies beyond [`FREE`] bytes.
    pub ratio: u64,
    /// The maximum nesting of containers and compression; a package and its usual inner archives count as one. With 0,
    /// nothing is unpacked.
    pub depth: u32,
    /// The maximum number of members, including folders, links and members of archives.
    pub members: u64,
    /// How to raise these limits, for messages.
    pub remedies: Remedies,
}

/// How the users of a program can raise each limit, such as an option of its command line. A message about
/// a limit ends with these words in parentheses, if there are any.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remedies {
    /// For [`Limits::member_size`].
    pub member_size: &'static str,
    /// For [`Limits::held`].
    pub held: &'static str,
    /// For [`Limits::unpacked_size`].
    pub unpacked_size: &'static str,
    /// For [`Limits::ratio`].
    pub ratio: &'static str,
    /// For [`Limits::depth`].
    pub depth: &'static str,
}

impl Remedies {
    /// No words for any limit.
    pub const NONE: Remedies =
        Remedies { member_size: "", held: "", unpacked_size: "", ratio: "", depth: "" };
}

/// Bytes that may be unpacked whatever the ratio is: repetitive data of this size costs a fraction of a second.
pub const FREE: u64 = 256 << 20;

impl Default for Limits {
    /// Among the 63,488 packages of Debian 12 for AMD64, the largest states an installed size of 2.1 GB, and the most
    /// compressed one 244 times its own size. gzip reduces zeros to a thousandth.
    fn default() -> Limits {
        Limits {
            member_size: 1 << 30,
            held: u64::MAX,
            unpacked_size: 64 << 30,
            ratio: 500,
            depth: 12,
            members: MEMBERS,
            remedies: Remedies::NONE,
        }
    }
}

impl Limits {
    /// A new count for the members of one input.
    #[must_use]
    pub const fn member_count(&self) -> MemberCount {
        MemberCount::new(self.members, self.held, self.remedies.held)
    }
}

/// Counts the bytes produced by all decompressors of one input and by holes of sparse files.
#[derive(Debug)]
pub(super) struct Meter {
    /// Bytes left, up to and including the first that exceeds the limit.
    left: Cell<u64>,
    limit: ExceededLimit,
}

impl Meter {
    /// A meter for an input of `size` bytes.
    pub(super) fn new(limits: &Limits, size: u64) -> Meter {
        let by_ratio = size.saturating_mul(limits.ratio).max(FREE);
        let most = by_ratio.min(limits.unpacked_size);
        let limit = if most == by_ratio {
            ExceededLimit::Ratio(limits.ratio, limits.remedies.ratio)
        } else {
            ExceededLimit::UnpackedSize(most, limits.remedies.unpacked_size)
        };
        Meter { left: Cell::new(most.saturating_add(1)), limit }
    }

    /// The limit that was exceeded, if any.
    pub(super) fn reached(&self) -> Option<ExceededLimit> {
        (self.left.get() == 0).then_some(self.limit)
    }

    /// Adds `bytes` to the count.
    ///
    /// # Errors
    /// Returns an error once the limit is exceeded.
    pub(super) fn count(&self, bytes: usize) -> io::Result<()> {
        let left = self.left.get().saturating_sub(bytes as u64);
        self.left.set(left);
        if left == 0 { Err(io::Error::other(self.limit)) } else { Ok(()) }
    }
}

/// The counted output of a decompressor. After an error, every further read returns the same error: a caller that
/// continues after a damaged member has to see the damage too.
pub(super) struct Metered<'m, R> {
    inner: R,
    meter: &'m Meter,
    name: &'static str,
    failed: Option<(io::ErrorKind, String)>,
}

impl<'m, R: Read> Metered<'m, R> {
    /// The output of `inner`, a decompressor for the compression format `name`.
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

    #[test]
    fn a_limit_is_inclusive() {
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
