//! Finds separate debug files: lists where the debug file of a file may be, and checks candidates.
//!
//! A stripped file identifies its debug file by a build-id (the note `NT_GNU_BUILD_ID`) or by a name and a checksum
//! (`.gnu_debuglink`). This module opens no files: the caller reads those that [`candidates`] lists, and [`check`]
//! accepts only an exact match.
//!
//! ```no_run
//! use std::path::{Path, PathBuf};
//! use sframe_oracle::cfi::CfiSource;
//! use sframe_oracle::debug_file;
//! use sframe_validator::elf::Elf;
//!
//! let path = Path::new("/usr/bin/true");
//! let file = std::fs::read(path)?;
//! let elf = Elf::parse(&file)?;
//! for candidate in debug_file::candidates(path, &elf, &[PathBuf::from("/usr/lib/debug")]) {
//!     let Ok(data) = std::fs::read(&candidate) else { continue };
//!     if debug_file::check(&elf, &data).is_ok() {
//!         let debug = Elf::parse(&data)?;
//!         let source = CfiSource::of(&debug);
//!         println!("{} CFI sections in {}", source.load_all()?.len(), candidate.display());
//!     }
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use core::fmt;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use sframe_validator::Endian;
use sframe_validator::elf::{Elf, SHT_NOTE};

/// `NT_GNU_BUILD_ID`, of notes whose owner is `GNU`.
const NT_GNU_BUILD_ID: u32 = 3;

/// The reason why a candidate is not the debug file of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// It is not a readable ELF file.
    NotElf,
    /// It is for another machine.
    Machine,
    /// It has another build-id, or none.
    BuildId,
    /// Its checksum differs from the one in `.gnu_debuglink`.
    Checksum {
        /// The checksum of the candidate.
        found: u32,
        /// The checksum in the file's `.gnu_debuglink`.
        wanted: u32,
    },
    /// The file identifies no debug file.
    Unnamed,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mismatch::NotElf => f.write_str("it is not an ELF file"),
            Mismatch::Machine => f.write_str("it is for another machine"),
            Mismatch::BuildId => f.write_str("its build-id is different"),
            Mismatch::Checksum { found, wanted } => {
                write!(f, "its checksum is {found:#010x}, .gnu_debuglink says {wanted:#010x}")
            }
            Mismatch::Unnamed => f.write_str("the file has neither build-id nor .gnu_debuglink"),
        }
    }
}

impl core::error::Error for Mismatch {}

/// The content of `.gnu_debuglink`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DebugLink<'a> {
    /// A file name without folders.
    pub name: &'a [u8],
    /// The checksum (CRC-32) of the debug file.
    pub checksum: u32,
}

/// The build-id of a file.
#[must_use]
pub fn build_id<'a>(elf: &Elf<'a>) -> Option<&'a [u8]> {
    let notes = elf.sections().iter().filter(|section| section.sh_type == SHT_NOTE);
    notes.filter_map(|s| elf.section_data(s).ok()).find_map(|notes| id_in(notes, elf.endian()))
}

/// The build-id in a section of notes. Each note consists of the sizes of name and descriptor and the type, then name
/// and descriptor, each padded to 4 bytes (gABI, "Note Section").
fn id_in(mut notes: &[u8], endian: Endian) -> Option<&[u8]> {
    loop {
        let (sizes, rest) = notes.split_first_chunk::<12>()?;
        let field = |place: usize| {
            let bytes = sizes.get(place..)?.first_chunk().copied()?;
            Some(number(bytes, endian))
        };
        let (name_size, size, kind) = (field(0)?, field(4)?, field(8)?);
        let padded = |size: u32| usize::try_from(size.checked_next_multiple_of(4)?).ok();
        let name = rest.get(..usize::try_from(name_size).ok()?)?;
        let rest = rest.get(padded(name_size)?..)?;
        let content = rest.get(..usize::try_from(size).ok()?)?;
        if kind == NT_GNU_BUILD_ID && name == b"GNU\0" && !content.is_empty() {
            return Some(content);
        }
        notes = rest.get(padded(size)?..)?;
    }
}

/// The link to the debug file; `None` also if it is not a plain file name.
#[must_use]
pub fn debug_link<'a>(elf: &Elf<'a>) -> Option<DebugLink<'a>> {
    let section = elf.sections().iter().find(|section| section.name == b".gnu_debuglink")?;
    link_in(elf.section_data(section).ok()?, elf.endian())
}

/// The link in the bytes of `.gnu_debuglink`.
fn link_in(data: &[u8], endian: Endian) -> Option<DebugLink<'_>> {
    let length = data.iter().position(|byte| *byte == 0)?;
    let name = data.get(..length)?;
    // The checksum follows the name, at a multiple of 4.
    let checksum = data.get((length + 1).next_multiple_of(4)..)?.first_chunk().copied()?;
    let plain = !name.is_empty() && !name.contains(&b'/') && name != b"." && name != b"..";
    plain.then(|| DebugLink { name, checksum: number(checksum, endian) })
}

fn number(bytes: [u8; 4], endian: Endian) -> u32 {
    match endian {
        Endian::Little => u32::from_le_bytes(bytes),
        Endian::Big => u32::from_be_bytes(bytes),
    }
}

/// The paths where the debug file of `elf`, which was read from `path`, may be: below each of `folders` by build-id,
/// then by the link's name in the same folder, in its `.debug` folder, and below each of `folders` under the file's own
/// path. GDB searches in this order ("Debugging Information in Separate Files").
#[must_use]
pub fn candidates(path: &Path, elf: &Elf<'_>, folders: &[PathBuf]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    if let Some((first, rest)) = build_id(elf).and_then(<[u8]>::split_first) {
        let mut name = format!("{first:02x}/");
        for byte in rest {
            // Writing to a String cannot fail.
            let _ = write!(name, "{byte:02x}");
        }
        name.push_str(".debug");
        found.extend(folders.iter().map(|folder| folder.join(".build-id").join(&name)));
    }
    if let Some(link) = debug_link(elf) {
        let name = OsStr::from_bytes(link.name);
        let beside = path.parent().unwrap_or(Path::new(""));
        found.push(beside.join(name));
        found.push(beside.join(".debug").join(name));
        let absolute = std::path::absolute(beside).unwrap_or_default();
        let below = absolute.strip_prefix("/").unwrap_or(&absolute);
        found.extend(folders.iter().map(|folder| folder.join(below).join(name)));
    }
    found
}

/// Checks that `candidate`, a file's bytes, is the debug file of `elf`: the build-ids are equal or, if `elf` has none,
/// the checksum is the one in its link.
///
/// # Errors
/// Returns the reason if it is not.
pub fn check(elf: &Elf<'_>, candidate: &[u8]) -> Result<(), Mismatch> {
    check_with(elf, candidate, || checksum(candidate))
}

/// Like [`check`], for callers that may know the [`checksum`] of `candidate`: the function `checksum` is called only if
/// needed.
///
/// # Errors
/// Returns the reason if it is not.
pub fn check_with(
    elf: &Elf<'_>,
    candidate: &[u8],
    checksum: impl FnOnce() -> u32,
) -> Result<(), Mismatch> {
    let other = Elf::parse(candidate).map_err(|_| Mismatch::NotElf)?;
    let kind = |elf: &Elf<'_>| (elf.machine(), elf.class(), elf.endian());
    if kind(elf) != kind(&other) {
        return Err(Mismatch::Machine);
    }
    if let Some(id) = build_id(elf) {
        return if build_id(&other) == Some(id) { Ok(()) } else { Err(Mismatch::BuildId) };
    }
    let wanted = debug_link(elf).ok_or(Mismatch::Unnamed)?.checksum;
    let found = checksum();
    if found == wanted { Ok(()) } else { Err(Mismatch::Checksum { found, wanted }) }
}

/// The checksum of a file as stored in `.gnu_debuglink` (CRC-32).
#[must_use]
pub fn checksum(data: &[u8]) -> u32 {
    crc32fast::hash(data)
}

#[cfg(test)]
#[allow(
    clippy::cast_possible_truncation,
    clippy::indexing_slicing,
    reason = "tests: they may panic"
)]
mod tests {
    use super::*;

    fn note(kind: u32, name: &[u8], content: &[u8]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for number in [name.len() as u32, content.len() as u32, kind] {
            bytes.extend(number.to_le_bytes());
        }
        for part in [name, content] {
            bytes.extend(part);
            bytes.resize(bytes.len().next_multiple_of(4), 0);
        }
        bytes
    }

    #[test]
    fn the_build_id_is_found_among_other_notes() {
        let mut notes = note(1, b"GNU\0", &[1, 2, 3, 4]);
        notes.extend(note(3, b"Go\0", b"other"));
        notes.extend(note(3, b"GNU\0", &[0xab, 0xcd, 0xef]));
        assert_eq!(id_in(&notes, Endian::Little), Some([0xab, 0xcd, 0xef].as_slice()));
        assert_eq!(id_in(&notes[..notes.len() - 4], Endian::Little), None);
        // An empty one identifies nothing.
        notes.splice(..0, note(3, b"GNU\0", &[]));
        assert_eq!(id_in(&notes, Endian::Little), Some([0xab, 0xcd, 0xef].as_slice()));
    }

    #[test]
    fn sizes_that_lead_nowhere_end_the_search() {
        let mut notes = note(3, b"Go\0", b"other");
        notes[4..8].fill(0xff);
        assert_eq!(id_in(&notes, Endian::Little), None);
        assert_eq!(id_in(&[0xff; 12], Endian::Big), None);
        assert_eq!(id_in(&[], Endian::Big), None);
    }

    /// GDB, "Debugging Information in Separate Files": a name, a zero byte, padding to a multiple of 4 bytes, and the
    /// checksum in the file's byte order. The checksum that CRC-32's catalogues give for "123456789" is 0xcbf43926.
    #[test]
    fn links_are_plain_names_with_a_checksum() {
        let link = |name: &[u8]| {
            let mut data = [name, &[0]].concat();
            data.resize(data.len().next_multiple_of(4), 0);
            data.extend(checksum(b"123456789").to_be_bytes());
            link_in(&data, Endian::Big).map(|link| (link.name.to_vec(), link.checksum))
        };
        for name in [b"a".as_slice(), b"abc", b"abcd", b"abcde", b"..a", b"a.."] {
            assert_eq!(link(name), Some((name.to_vec(), 0xcbf4_3926)));
        }
        for name in [b"".as_slice(), b".", b"..", b"/a", b"../a", b"a/"] {
            assert_eq!(link(name), None);
        }
        let little = link_in(b"abc\0\x26\x39\xf4\xcb", Endian::Little);
        assert_eq!(little.map(|link| link.checksum), Some(0xcbf4_3926));
        assert_eq!(link_in(b"abc\0\x26\x39\xf4", Endian::Little), None);
        assert_eq!(link_in(b"abc", Endian::Little), None);
    }

    #[test]
    fn mismatches_are_sentences() {
        for (mismatch, says) in [
            (Mismatch::NotElf, "it is not an ELF file"),
            (Mismatch::Machine, "it is for another machine"),
            (Mismatch::BuildId, "its build-id is different"),
            (
                Mismatch::Checksum { found: 0xab, wanted: 0xcbf4_3926 },
                "its checksum is 0x000000ab, .gnu_debuglink says 0xcbf43926",
            ),
            (Mismatch::Unnamed, "the file has neither build-id nor .gnu_debuglink"),
        ] {
            assert_eq!(mismatch.to_string(), says);
        }
    }
}
