//! Limits the number of members of an input and the memory for their names: each member is reported, and held in memory
//! until the report is written.

use std::fmt;

use sframe_record::numbers::counted;

/// The number of bytes of a member's name that are read: a longer path is invalid (Linux, `PATH_MAX`).
pub const NAME: usize = 4096;
/// The maximum number of members of an input, including nested ones.
pub(crate) const MEMBERS: u64 = 1_000_000;
/// The maximum size in bytes of all member names of an input. The names of a million members take about 100 MB.
const NAMES: u64 = 1 << 27;

/// Counts the members of one input, including those of nested archives, and the bytes of their names.
#[derive(Debug)]
pub struct MemberCount {
    most: u64,
    most_names: u64,
    members: u64,
    names: u64,
    /// How to raise the limit of memory.
    remedy: &'static str,
}

impl Default for MemberCount {
    fn default() -> MemberCount {
        MemberCount::new(MEMBERS, u64::MAX, "")
    }
}

impl MemberCount {
    /// A count for an input with at most `most` members, whose names may take `held` bytes of memory;
    /// `remedy` says how to raise that (see [`Remedies`](crate::package::Remedies)).
    #[must_use]
    pub const fn new(most: u64, held: u64, remedy: &'static str) -> MemberCount {
        let (most_names, remedy) = if held < NAMES { (held, remedy) } else { (NAMES, "") };
        MemberCount { most, most_names, members: 0, names: 0, remedy }
    }

    /// Adds a member whose name has `name` bytes. Returns false if that exceeds a limit.
    pub(crate) const fn add(&mut self, name: usize) -> bool {
        self.members = self.members.saturating_add(1);
        self.names = self.names.saturating_add(name as u64);
        self.members <= self.most && self.names <= self.most_names
    }

    /// The number of members counted.
    #[must_use]
    pub const fn members(&self) -> u64 {
        self.members
    }

    /// The total size of their names in bytes.
    #[must_use]
    pub const fn names(&self) -> u64 {
        self.names
    }

    /// The limit that was exceeded, if any. No more of the input is read then.
    #[must_use]
    pub fn reached(&self) -> Option<ExceededLimit> {
        if self.members > self.most {
            return Some(ExceededLimit::Members(self.most));
        }
        (self.names > self.most_names).then_some(ExceededLimit::Names(self.most_names, self.remedy))
    }
}

/// A limit that an input exceeds: its value, and how to raise it (see [`Remedies`](crate::package::Remedies)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExceededLimit {
    /// The number of members.
    Members(u64),
    /// The bytes of memory that the names of members take.
    Names(u64, &'static str),
    /// The size in bytes of a member that has to be in memory.
    MemberSize(u64, &'static str),
    /// The ratio of unpacked bytes to the input's size.
    Ratio(u64, &'static str),
    /// The number of unpacked bytes.
    UnpackedSize(u64, &'static str),
    /// The number of containers around a member.
    Depth(u32, &'static str),
}

impl fmt::Display for ExceededLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (reason, remedy) = match *self {
            ExceededLimit::Members(most) => (format!("it has more than {most} members"), ""),
            ExceededLimit::Names(most, remedy) => {
                (format!("the names in it take more than {}", size_text(most)), remedy)
            }
            ExceededLimit::MemberSize(most, remedy) => {
                (format!("it is larger than {}", size_text(most)), remedy)
            }
            ExceededLimit::Ratio(most, remedy) => {
                (format!("it unpacks to more than {most} times its size"), remedy)
            }
            ExceededLimit::UnpackedSize(most, remedy) => {
                (format!("it unpacks to more than {}", size_text(most)), remedy)
            }
            ExceededLimit::Depth(most, remedy) => {
                (format!("it is inside {most} other containers"), remedy)
            }
        };
        f.write_str(&reason)?;
        if remedy.is_empty() { Ok(()) } else { write!(f, " ({remedy})") }
    }
}

impl std::error::Error for ExceededLimit {}

/// A size in MiB if it is a multiple, else in bytes.
fn size_text(bytes: u64) -> String {
    if bytes.is_multiple_of(1 << 20) {
        format!("{} MiB", bytes >> 20)
    } else {
        counted(bytes, "byte")
    }
}
