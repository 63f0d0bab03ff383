//! What a file is by its mode, as cpio archives, RPM packages and zip files store it: the values that cpio(5) lists
//! under `mode`, of which POSIX leaves the numbers open.

use crate::Special;

/// Where the kind of file is in a mode (`S_IFMT`).
const KIND: u32 = 0o17_0000;

/// What a file is by its mode.
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
    /// No kind of file that there is; also where no mode is stored.
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
