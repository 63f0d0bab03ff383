//! Build IDs: which build of a file is mapped.

use core::fmt;

use object::Endianness;
use object::elf::{FileHeader64, NT_GNU_BUILD_ID};
use object::read::elf::{FileHeader, ProgramHeader};

/// Checks that a file is not another build than the one that was mapped. A build ID that one of them does not have is no
/// contradiction.
///
/// `mapped` is the beginning of the mapped file, in which the build ID is; empty if it is unknown.
///
/// # Errors
/// Returns both build IDs if they differ.
pub(crate) fn check_build(file: &[u8], mapped: &[u8]) -> Result<(), OtherBuild> {
    match (build_id(file), build_id(mapped)) {
        (Some(found), Some(mapped)) if found != mapped => {
            Err(OtherBuild { found: BuildId::of(found), mapped: BuildId::of(mapped) })
        }
        _ => Ok(()),
    }
}

/// A file is another build than the mapped one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OtherBuild {
    found: BuildId,
    mapped: BuildId,
}

impl fmt::Display for OtherBuild {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let OtherBuild { found, mapped } = self;
        write!(f, "its build ID is {found}, but that of the mapped file is {mapped}")
    }
}

impl std::error::Error for OtherBuild {}

/// The beginning of a build ID.
#[derive(Clone, Debug, PartialEq, Eq)]
struct BuildId(Vec<u8>);

impl BuildId {
    /// Identifiers have 20 bytes; a damaged one could be long.
    fn of(bytes: &[u8]) -> BuildId {
        BuildId(bytes.iter().take(32).copied().collect())
    }
}

impl fmt::Display for BuildId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The build ID in the notes of a 64-bit ELF file, of which `data` is the beginning or all.
fn build_id(data: &[u8]) -> Option<&[u8]> {
    let header = FileHeader64::<Endianness>::parse(data).ok()?;
    let endian = header.endian().ok()?;
    for segment in header.program_headers(endian, data).ok()? {
        let Ok(Some(mut notes)) = segment.notes(endian, data) else { continue };
        while let Ok(Some(note)) = notes.next() {
            if note.name() == b"GNU" && note.n_type(endian) == NT_GNU_BUILD_ID {
                return Some(note.desc());
            }
        }
    }
    None
}
