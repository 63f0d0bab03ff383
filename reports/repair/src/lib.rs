//! Repairs the SFrame section of an ELF file that a linker has spoiled.
//!
//! [`repair`] merges sections that were appended to each other, sorts the functions, corrects start addresses that the
//! linker did not adjust, removes duplicate functions and redundant rows, moves relocations that `ld -r` left where they
//! were, and corrects the size in the program header. A linked file without PT_GNU_SFRAME gets one: its program headers
//! move to a new segment at its end, because they have no room to grow. Everything else in the file stays where it is.
//!
//! The result is checked by the rules and compared with the file's CFI before it is returned: it is refused if it is worse
//! than the input, and what is still wrong with it is [`Repaired::remaining`]. A file whose start addresses cannot be
//! determined is refused.
//!
//! ```
//! use sframe_repair::repair;
//!
//! # let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../corpus/golden/lld/x86_64");
//! let appended = std::fs::read(format!("{folder}/v3-static.exe"))?;
//! let repaired = repair(&appended)?;
//! for change in &repaired.changes {
//!     println!("{change}");
//! }
//! assert_eq!(repaired.changes[0].to_string(), "merged 8 sections into one");
//! assert_eq!(repaired.changes[2].to_string(), "added PT_GNU_SFRAME; the program headers are in a new segment at the end");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![forbid(unsafe_code)]

mod change;
mod code;
mod error;
mod merge;
mod object;
mod parts;
mod patch;
mod place;
mod remaining;
mod rows;
mod starts;
mod verify;

pub use change::{Change, Loss};
pub use error::RepairError;
pub use remaining::{Remaining, remaining};

use sframe_oracle::cfi::CfiSource;
use sframe_synthesis::add_segment;
use sframe_validator::elf::{Elf, ElfKind, SHT_NOBITS};

use code::Known;
use place::{File, Place};

/// A repaired file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repaired {
    /// The file's bytes: as many as before, unless the program headers have moved to a new segment.
    pub bytes: Vec<u8>,
    /// The changes; none if nothing had to be repaired.
    pub changes: Vec<Change>,
    /// What the repaired section does not say any longer, or still lacks.
    pub lost: Vec<Loss>,
    /// What is still wrong with the section: a repair changes no values of rows.
    pub remaining: Vec<Remaining>,
}

/// Repairs the SFrame section of a 64-bit ELF file.
///
/// # Errors
/// Returns a [`RepairError`] if the file cannot be read, if its start addresses or relocations cannot be determined, if
/// there is no room, or if the result has findings that the input does not have.
pub fn repair(file: &[u8]) -> Result<Repaired, RepairError> {
    let elf = Elf::parse(file)?;
    let place = Place::of(&elf)?;
    let source = CfiSource::of(&elf);
    let cfi = source.load_all()?;
    let known = Known::of(&elf, &cfi)?;
    let original = File { elf: &elf, cfi: &cfi, place: &place, known: &known };
    let (mut changes, mut lost) = (Vec::new(), Vec::new());
    if place.data.is_empty() {
        if place.header.sh_type == SHT_NOBITS {
            return Err(RepairError::EmptySection);
        }
        let bytes = patch::remove_segment(&elf, &place, &mut changes)?;
        verify::verify(&original, &[], &bytes, &lost)?;
        return Ok(Repaired { bytes, changes, lost, remaining: Vec::new() });
    }
    let (mut parts, slack) = parts::split(place.data, place.header.address)?;
    if let Some(functions) = parts::replaced(&elf, &parts) {
        return Err(RepairError::Stale { functions });
    }
    if elf.kind() == ElfKind::Relocatable {
        object::assign(&elf, &place, &known, &mut parts, &mut changes)?;
    } else {
        starts::decide(&known, &mut parts, &mut changes)?;
    }
    let merged = merge::merge(&original, &parts, slack, (&mut changes, &mut lost))?;
    let mut bytes = patch::patch(&elf, &place, &merged, &mut changes)?;
    if elf.kind() != ElfKind::Relocatable && place::segment(&elf).is_none() {
        match add_segment(&Elf::parse(&bytes)?) {
            Ok(file) => {
                bytes = file;
                changes.push(Change::SegmentAdded);
            }
            Err(reason) => lost.push(Loss::NoSegment(reason)),
        }
    }
    if !changes.is_empty() {
        verify::verify(&original, &parts, &bytes, &lost)?;
    }
    let remaining = remaining::of(&Elf::parse(&bytes)?, &cfi)?;
    Ok(Repaired { bytes, changes, lost, remaining })
}
