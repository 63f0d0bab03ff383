//! The type of an ELF file.

use sframe_record::ElfType;
use sframe_validator::elf::{Elf, ElfKind};

/// The type of an ELF file.
pub(crate) fn elf_type(elf: &Elf<'_>) -> ElfType {
    match elf.kind() {
        ElfKind::Relocatable => ElfType::Relocatable,
        ElfKind::Executable => ElfType::Executable,
        ElfKind::Shared => ElfType::Shared,
        ElfKind::Core | ElfKind::Other(_) => ElfType::Other,
    }
}
