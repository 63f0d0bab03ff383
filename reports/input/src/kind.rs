//! The type of a file, recognized by its first bytes and never by its name.

use sframe_validator::elf::Elf;

use super::archive;

/// The number of bytes that [`Kind::of`] looks at: the first header of a tar archive, and the start of a Linux kernel for x86.
pub const HEAD: usize = 0x206;
/// Offset of the magic number in a tar header (POSIX.1-1988; GNU tar writes the same five bytes).
const TAR_MAGIC: usize = 257;

/// The type of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An empty file.
    Empty,
    /// An ELF file.
    Elf,
    /// A static library, `.a`.
    Archive,
    /// A container of files, or a compressed file.
    Package(Package),
    /// A Linux kernel as boot loaders start it (`vmlinuz`, `Image`). The ELF file, `vmlinux`, is a part of it, usually compressed.
    LinuxImage,
    /// Anything else.
    Other,
}

/// A container of files, or a compressed file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Package {
    /// One file, which may be a tar archive.
    Compressed(Compression),
    /// `tar`, in POSIX's and GNU's forms.
    Tar,
    /// `.deb` or `.udeb`.
    Deb,
    /// `.rpm`.
    Rpm,
    /// `cpio` in its portable format, `newc`.
    Cpio,
    /// `zip`: wheels, jars.
    Zip,
    /// `.apk` version 3, which has its own format; version 2 is compressed tar.
    Apk3,
}

/// A compression format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compression {
    /// `gzip` (RFC 1952).
    Gzip,
    /// `xz`.
    Xz,
    /// `zstd` (RFC 8878).
    Zstd,
    /// `bzip2`.
    Bzip2,
}

impl Compression {
    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Compression::Gzip => "gzip",
            Compression::Xz => "xz",
            Compression::Zstd => "zstd",
            Compression::Bzip2 => "bzip2",
        }
    }

    /// The compression format of a file that starts with `head`.
    #[must_use]
    pub fn of(head: &[u8]) -> Option<Compression> {
        match head {
            // 8: deflate, the only method that RFC 1952 defines.
            [0x1f, 0x8b, 8, ..] => Some(Compression::Gzip),
            [0xfd, b'7', b'z', b'X', b'Z', 0, ..] => Some(Compression::Xz),
            [0x28, 0xb5, 0x2f, 0xfd, ..] => Some(Compression::Zstd),
            // A block, or the end of a stream without blocks.
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, ..]
            | [b'B', b'Z', b'h', b'1'..=b'9', 0x17, 0x72, 0x45, 0x38, 0x50, 0x90, ..] => {
                Some(Compression::Bzip2)
            }
            _ => None,
        }
    }
}

impl Kind {
    /// The type of a file that starts with `head`: its first [`HEAD`] bytes, or all bytes if it is shorter.
    #[must_use]
    pub fn of(head: &[u8]) -> Kind {
        if head.is_empty() {
            return Kind::Empty;
        }
        if Elf::is_elf(head) {
            return Kind::Elf;
        }
        if let Some(package) = Package::of(head) {
            return Kind::Package(package);
        }
        if archive::is_archive(head) {
            Kind::Archive
        } else if is_linux_image(head) {
            Kind::LinuxImage
        } else {
            Kind::Other
        }
    }
}

/// Whether a file starts as Linux kernels for x86 do (Documentation/arch/x86/boot.rst: `header`) or those for AArch64
/// (Documentation/arch/arm64/booting.rst: `magic`).
fn is_linux_image(head: &[u8]) -> bool {
    let has = |offset: usize, magic: &[u8]| {
        head.get(offset..).is_some_and(|rest| rest.starts_with(magic))
    };
    has(0x202, b"HdrS") || has(0x38, b"ARM\x64")
}

impl Package {
    fn of(head: &[u8]) -> Option<Package> {
        if let Some(compression) = Compression::of(head) {
            return Some(Package::Compressed(compression));
        }
        let starts: [(&[u8], Package); 9] = [
            (b"!<arch>\ndebian-binary", Package::Deb),
            (&[0xed, 0xab, 0xee, 0xdb], Package::Rpm),
            (b"070701", Package::Cpio),
            (b"070702", Package::Cpio),
            (b"PK\x03\x04", Package::Zip),
            // A zip file without members starts with the end-of-central-directory record.
            (b"PK\x05\x06", Package::Zip),
            (b"ADB.", Package::Apk3),
            (b"ADBd", Package::Apk3),
            (b"ADBc", Package::Apk3),
        ];
        let found = starts.into_iter().find(|(magic, _)| head.starts_with(magic));
        let tar = || head.get(TAR_MAGIC..)?.starts_with(b"ustar").then_some(Package::Tar);
        found.map(|(_, package)| package).or_else(tar)
    }
}
