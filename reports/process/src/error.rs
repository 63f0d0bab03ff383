//! Why mapped files cannot be used.

use core::fmt;
use std::io;

use sframe_input::plain_error;
use sframe_validator::elf::ElfError;
use sframe_validator::text::Text;

use crate::build_id::OtherBuild;

/// A file that cannot be used, and why.
#[derive(Debug)]
pub struct UnusableFile {
    /// Its path or name.
    file: Vec<u8>,
    defect: FileDefect,
}

impl UnusableFile {
    /// The error for a file with this path or name.
    #[must_use]
    pub fn new(file: &[u8], defect: impl Into<FileDefect>) -> UnusableFile {
        UnusableFile { file: file.to_owned(), defect: defect.into() }
    }
}

impl fmt::Display for UnusableFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} cannot be used: {}", Text::of(&self.file), self.defect)
    }
}

impl std::error::Error for UnusableFile {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.defect)
    }
}

/// Why a file cannot be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum FileDefect {
    /// The system refuses it, or it has changed.
    Io(io::Error),
    /// It is not a readable ELF file.
    Elf(ElfError),
    /// It is another build than the mapped file.
    OtherBuild(OtherBuild),
    /// Its dynamic section is elsewhere than that of the mapped file.
    OtherDynamicSection,
    /// Its program headers load nothing from this file offset, which is mapped.
    NothingLoaded(u64),
}

impl fmt::Display for FileDefect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FileDefect::Io(error) => f.write_str(&plain_error(error)),
            FileDefect::Elf(error) => error.fmt(f),
            FileDefect::OtherBuild(error) => error.fmt(f),
            FileDefect::OtherDynamicSection => {
                f.write_str("it is not the mapped file: its dynamic section is elsewhere")
            }
            FileDefect::NothingLoaded(offset) => {
                write!(f, "its program headers load nothing from file offset {offset:#x}")
            }
        }
    }
}

impl std::error::Error for FileDefect {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            FileDefect::Io(error) => Some(error),
            FileDefect::Elf(error) => Some(error),
            FileDefect::OtherBuild(error) => Some(error),
            FileDefect::OtherDynamicSection | FileDefect::NothingLoaded(_) => None,
        }
    }
}

impl From<io::Error> for FileDefect {
    fn from(error: io::Error) -> FileDefect {
        FileDefect::Io(error)
    }
}

impl From<ElfError> for FileDefect {
    fn from(error: ElfError) -> FileDefect {
        FileDefect::Elf(error)
    }
}

impl From<OtherBuild> for FileDefect {
    fn from(error: OtherBuild) -> FileDefect {
        FileDefect::OtherBuild(error)
    }
}
