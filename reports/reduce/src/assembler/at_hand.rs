//! The assembler that writes the version of a file's section, among those on the path.

use std::env;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

use sframe_record::Header;
use sframe_validator::Abi;
use sframe_validator::elf::Elf;

use super::{Assembler, OBJECT};
use crate::error::ProgramError;

/// The most programs that are tried.
const MOST: usize = 32;
/// A function that every assembler takes.
const PROBE: &str = "f:\n\t.cfi_startproc\n\tnop\n\t.cfi_endproc\n";
/// Start addresses are relative to their own fields.
const PCREL: u8 = 4;

/// What an assembler writes: the version, and in version 2 whether the section is LLVM's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    version: u8,
    is_llvm: bool,
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of_llvm = if self.is_llvm { " in the form of LLVM" } else { "" };
        write!(f, "version {}{of_llvm}", self.version)
    }
}

impl Format {
    /// The format of a section.
    #[must_use]
    pub fn of(header: &Header<'_>, abi: Abi) -> Format {
        Format::new(header.version, header.flags, abi)
    }

    // As for the models of assemblers: GNU as does not set the flag in version 2, except through its linker for other machines.
    fn new(version: u8, flags: u8, abi: Abi) -> Format {
        let is_llvm = version == 2 && flags & PCREL != 0 && abi == Abi::Amd64;
        Format { version, is_llvm }
    }
}

impl Assembler {
    /// What it writes for a machine; `None` if it writes no section.
    #[must_use]
    pub fn format(&self, abi: Abi) -> Option<Format> {
        let finished = self.assemble(PROBE, abi).ok()?;
        let object = finished.folder().read(OBJECT).ok()?;
        let elf = Elf::parse(&object).ok()?;
        let header = elf.sframe_sections().next()?;
        // The preamble, and the ABI after it.
        let [_, _, version, flags, own, ..] = *elf.section_data(header).ok()? else { return None };
        (Abi::from_id(own) == Some(abi)).then(|| Format::new(version, flags, abi))
    }
}

/// The first assembler on the path that writes `wanted`, else the first one that writes a section for the machine, with what
/// it writes.
///
/// # Errors
/// Returns an error if there is none.
pub fn at_hand(
    abi: Abi,
    wanted: Option<Format>,
    watcher: &Path,
) -> Result<(Assembler, Option<Format>), ProgramError> {
    let mut first = None;
    for program in on_path(abi) {
        let Ok(assembler) = Assembler::of(vec![program.into_os_string()], watcher) else {
            continue;
        };
        let format = assembler.format(abi);
        if format.is_some() && (wanted.is_none() || format == wanted) {
            return Ok((assembler, format));
        }
        if first.is_none() && format.is_some() {
            first = Some((assembler, format));
        }
    }
    match first {
        Some(first) => Ok(first),
        // It says itself why it makes no object.
        None => Assembler::find("as", watcher).map(|assembler| (assembler, None)),
    }
}

/// Assemblers by the names that they have: `as` of each folder, those of the machine, and LLVM's.
fn on_path(abi: Abi) -> Vec<PathBuf> {
    let machine = match abi {
        Abi::Amd64 => "x86_64-linux-gnu-as",
        Abi::Aarch64Little | Abi::Aarch64Big => "aarch64-linux-gnu-as",
        Abi::S390x => "s390x-linux-gnu-as",
    };
    let folders: OsString = env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> =
        env::split_paths(&folders).filter(|folder| folder.is_absolute()).collect();
    let mut found: Vec<PathBuf> = Vec::new();
    for name in ["as", machine, "llvm-mc"] {
        for folder in &folders {
            let program = folder.join(name);
            if program.is_file() && !found.contains(&program) {
                found.push(program);
            }
        }
    }
    found.truncate(MOST);
    found
}
