//! File types in file modes, as cpio archives, RPM packages and zip files store them: the values that cpio(5) lists
//! under `mode`. POSIX does not define the numbers.

use crate::Special;

/// The bits of a mode that encode the file type (`S_IFMT`).
const KIND: u32 = 0o17_0000;

/// The file type that a mode encodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// A regular file.
    Regular,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// Something else without bytes of its own.
    Special(Special),
    /// An undefined file type; also if no mode is stored.
    Unknown,
}

impl Mode {
    pub(super) const fn of(mode: u32) -> Mode {
        match mode & KIND {
            0o10_0000 => Mode::Regular,
            0o04_0000 => Mode::Folder,
            0o12_0000 => Mode::Link,
            0o01_0000 => Mode::Special(Special::Fifo),
            0o02_0000 | 0o06_0000 => Mode::Special(Special::Device),
            0o14_0000 => Mode::Special(Special::Socket),
            _ => Mode::Unknown,
        }
    }
}
