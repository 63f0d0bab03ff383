//! What a file shows besides its record: facts about all functions of a file, of which a record lists those with findings.

mod start_files;
mod unadjusted;

use std::collections::BTreeSet;

use sframe_record::Record;
use sframe_validator::elf::{Elf, SHT_CREL, SHT_REL, SHT_RELA, SHT_SYMTAB, SframeSection};

use crate::traits::Traits;
pub(crate) use unadjusted::{Unadjusted, is_linked_without_sframe};

/// Facts about a file by which some findings are recognised. Without them (`Evidence::default()`), other findings are
/// recognised as usual.
#[derive(Clone, Debug, Default)]
pub struct Evidence {
    /// The functions that are at wrong places.
    pub(crate) unadjusted: Option<Unadjusted>,
    /// Whether it has no symbol table and no relocations.
    pub(crate) is_stripped: bool,
    /// Where functions of start files begin, if any function is lost.
    pub(crate) start_files: BTreeSet<u64>,
    /// The number of lost functions of start files, if a record does not list all lost functions.
    pub(crate) lost_start_files: u64,
    /// The cases of compilers' traits, if all findings were looked at.
    pub(crate) traits: Option<Traits>,
}

impl Evidence {
    /// Reads from the file what the findings of its record need. Most files have no such findings, and are not read.
    #[must_use]
    pub fn of(record: &Record<'_>, elf: &Elf<'_>, sections: &[SframeSection<'_>]) -> Evidence {
        if record.counts.is_empty() {
            return Evidence::default();
        }
        Evidence {
            unadjusted: Unadjusted::read(record, elf, sections),
            is_stripped: is_stripped(elf),
            start_files: start_files::starts(record, elf),
            lost_start_files: start_files::lost(record, elf, sections),
            traits: None,
        }
    }

    /// With the cases of compilers' traits, of all findings of the file.
    #[must_use]
    pub fn with_traits(self, traits: Traits) -> Evidence {
        Evidence { traits: Some(traits), ..self }
    }
}

/// Whether a file has neither a symbol table nor relocations. Assemblers and `ld -r` write both.
fn is_stripped(elf: &Elf<'_>) -> bool {
    let needed = [SHT_SYMTAB, SHT_RELA, SHT_REL, SHT_CREL];
    !elf.sections().iter().any(|section| needed.contains(&section.sh_type))
}
