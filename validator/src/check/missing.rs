//! Code that a file announces and does not contain.

use alloc::format;
use alloc::string::String;

use crate::elf::Elf;
use crate::finding::{Undecided, UndecidedCause};

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
