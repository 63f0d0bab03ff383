//! How many members an input may have, and what their names may take: something is said of each, and held until it is
//! written.

/// Bytes of a member's name that are looked at: a longer path is none (Linux, `PATH_MAX`).
pub const NAME: usize = 4096;
/// Members of an input, all that is inside it taken together.
pub(crate) const MEMBERS: u64 = 1_000_000;
/// Bytes of the names of all members of an input. A million members have some 100 MB.
const NAMES: u64 = 1 << 27;

/// Counts the members of one input, also of the archives in it, and the bytes of their names.
#[derive(Debug)]
pub struct MemberCount {
    most: u64,
    most_names: u64,
    members: u64,
    names: u64,
}

impl Default for MemberCount {
    fn default() -> MemberCount {
        MemberCount::new(MEMBERS, u64::MAX)
    }
}

impl MemberCount {
    /// Of an input that may have `most` members, and take `held` bytes of memory for their names.
    #[must_use]
    pub const fn new(most: u64, held: u64) -> MemberCount {
        let most_names = if held < NAMES { held } else { NAMES };
        MemberCount { most, most_names, members: 0, names: 0 }
    }

    /// Counts one more, with a name of so many bytes; whether it may be.
    pub(crate) const fn add(&mut self, name: usize) -> bool {
        self.members = self.members.saturating_add(1);
        self.names = self.names.saturating_add(name as u64);
        self.members <= self.most && self.names <= self.most_names
    }

    /// How many there were.
    #[must_use]
    pub const fn members(&self) -> u64 {
        self.members
    }

    /// Bytes that their names take.
    #[must_use]
    pub const fn names(&self) -> u64 {
        self.names
    }

    /// The limit that has been reached, if one has: nothing more of the input is read.
    #[must_use]
    pub fn reached(&self) -> Option<String> {
        if self.members > self.most {
            return Some(format!("it has more than {} members", self.most));
        }
        let option = if self.most_names < NAMES { " (--memory-limit)" } else { "" };
        let most = size_text(self.most_names);
        (self.names > self.most_names)
            .then(|| format!("the names in it take more than {most}{option}"))
    }
}

/// A size in the unit of the options.
pub(crate) fn size_text(bytes: u64) -> String {
    if bytes.is_multiple_of(1 << 20) {
        format!("{} MiB", bytes >> 20)
    } else {
        format!("{bytes} bytes")
    }
}
