//! Separate debug files: the symbols and the CFI that files lose when they are stripped.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sframe_input::{DebugFile, DebugFileError, Debuginfod};
use sframe_oracle::cfi::{Cfi, Kind, section_bytes};
use sframe_validator::elf::{Elf, ElfError};

use crate::files::Files;

/// The largest number of bytes that compressed sections of all files together may have.
const ROOM: u64 = 1 << 30;

/// Why a separate debug file is not used.
#[derive(Debug)]
pub enum UnusedDebugFile {
    /// It cannot be found or read, or belongs to another file.
    Refused(DebugFileError),
    /// It is not a readable ELF file.
    Elf(ElfError),
}

impl fmt::Display for UnusedDebugFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UnusedDebugFile::Refused(error) => error.fmt(f),
            UnusedDebugFile::Elf(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for UnusedDebugFile {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            UnusedDebugFile::Refused(error) => Some(error),
            UnusedDebugFile::Elf(error) => Some(error),
        }
    }
}

impl From<DebugFileError> for UnusedDebugFile {
    fn from(error: DebugFileError) -> UnusedDebugFile {
        UnusedDebugFile::Refused(error)
    }
}

impl From<ElfError> for UnusedDebugFile {
    fn from(error: ElfError) -> UnusedDebugFile {
        UnusedDebugFile::Elf(error)
    }
}

/// Finds separate debug files.
pub(super) struct DebugFiles<'s> {
    files: &'s Files,
    folders: Vec<PathBuf>,
    servers: Option<Arc<Debuginfod>>,
    /// The rest of [`ROOM`].
    room: Cell<u64>,
}

/// An ELF file with CFI, and its compressed sections in memory.
pub(super) struct WithCfi<'s> {
    pub(super) elf: Elf<'s>,
    /// The number, the address and the bytes of each.
    inflated: Vec<(u32, u64, &'s [u8])>,
}

impl<'s> DebugFiles<'s> {
    pub(super) const fn new(
        files: &'s Files,
        folders: Vec<PathBuf>,
        servers: Option<Arc<Debuginfod>>,
    ) -> DebugFiles<'s> {
        DebugFiles { files, folders, servers, room: Cell::new(ROOM) }
    }

    /// The debug file of `elf`, which was read from `path`; `None` if there is none.
    ///
    /// # Errors
    /// Returns an error if a file with the right name is not used.
    pub(super) fn find(
        &self,
        path: &Path,
        elf: &Elf<'_>,
    ) -> Result<Option<WithCfi<'s>>, UnusedDebugFile> {
        let found = match (DebugFile::find(path, elf, &self.folders)?, &self.servers) {
            (None, Some(servers)) => servers.find(elf).map_err(DebugFileError::from)?,
            (found, _) => found,
        };
        let Some(found) = found else { return Ok(None) };
        let Some(bytes) = self.files.keep_debug_file(found) else { return Ok(None) };
        let elf = Elf::parse(bytes)?;
        Ok(Some(self.inflate(elf)))
    }

    /// Decompresses the sections of a file that contain CFI.
    pub(super) fn inflate(&self, elf: Elf<'s>) -> WithCfi<'s> {
        let is_cfi = |name: &[u8]| matches!(name, b".debug_frame" | b".zdebug_frame");
        let mut inflated = Vec::new();
        for section in elf.sections().iter().filter(|section| is_cfi(section.name.bytes())) {
            // A section that cannot be decompressed is a defect of the CFI.
            if let Ok(Cow::Owned(bytes)) = section_bytes(&elf, section, self.room.get()) {
                self.room.set(self.room.get().saturating_sub(bytes.len() as u64));
                inflated.push((section.index, section.address, self.files.keep(bytes)));
            }
        }
        WithCfi { elf, inflated }
    }
}

impl<'s> WithCfi<'s> {
    /// A file whose compressed sections are not read.
    pub(super) const fn plain(elf: Elf<'s>) -> WithCfi<'s> {
        WithCfi { elf, inflated: Vec::new() }
    }

    /// The CFI sections; those for unwinders precede those for debuggers.
    ///
    /// # Errors
    /// See [`Cfi::load_all`].
    pub(super) fn cfi(&self) -> Result<Vec<Cfi<'s>>, ElfError> {
        let mut sections = Cfi::load_all(&self.elf)?;
        let Some(abi) = self.elf.abi() else { return Ok(sections) };
        for section in &mut sections {
            let number = section.section();
            let inflated = self.inflated.iter().find(|(index, ..)| *index == number);
            if let Some((_, address, bytes)) = inflated {
                *section = Cfi::from_bytes(bytes, Kind::DebugFrame, *address, abi);
            }
        }
        Ok(sections)
    }
}
