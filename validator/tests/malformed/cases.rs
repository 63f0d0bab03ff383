//! The table of cases.

#[path = "content.rs"]
mod content;
#[path = "files.rs"]
mod files;
#[path = "functions.rs"]
mod functions;
#[path = "headers.rs"]
mod headers;

use crate::Case;

/// Every case.
pub fn all() -> Vec<Case> {
    let mut cases = files::cases();
    cases.extend(headers::cases());
    cases.extend(functions::cases());
    cases.extend(content::cases());
    cases
}

/// A defect that is not in a single field.
fn at(rule: &'static str, sound: Vec<u8>, broken: Vec<u8>, offset: Option<u64>) -> Case {
    Case { rule, sound, broken, offset, field: None, besides: &[] }
}

/// A defect in a field.
fn field(
    rule: &'static str,
    sound: Vec<u8>,
    broken: Vec<u8>,
    offset: u64,
    name: &'static str,
) -> Case {
    Case { rule, sound, broken, offset: Some(offset), field: Some(name), besides: &[] }
}

/// A defect in a field of the ELF file.
fn elf(rule: &'static str, sound: Vec<u8>, broken: Vec<u8>, name: &'static str) -> Case {
    Case { rule, sound, broken, offset: None, field: Some(name), besides: &[] }
}
