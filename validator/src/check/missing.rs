//! What a file should contain and does not.

use alloc::format;
use alloc::string::String;

use crate::elf::{Elf, ElfKind};
use crate::finding::{Undecided, UndecidedCause};

/// An object without section headers: nothing else says where anything is in it.
pub(super) fn section_headers(file: &Elf<'_>) -> Option<Undecided> {
    let is_lost = file.kind() == ElfKind::Relocatable && file.sections().is_empty();
    let reason = "the object has no section headers: nothing in it can be found".into();
    is_lost.then_some(Undecided { section: None, cause: UndecidedCause::NoSectionHeaders, reason })
}

/// What the file's headers say about code that the file does not contain.
pub(super) fn code(file: &Elf<'_>) -> Option<Undecided> {
    let mut missing = file.missing_code();
    let first = missing.next()?;
    let more = match missing.count() {
        0 => String::new(),
        number => format!(", nor those of {number} more sections"),
    };
    let reason =
        format!("the {} bytes of code in {} are not in this file{more}", first.size, first.name);
    Some(Undecided { section: None, cause: UndecidedCause::CodeNotInFile, reason })
}
