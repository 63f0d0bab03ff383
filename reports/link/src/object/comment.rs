//! The producers that an object names.

use sframe_record::text::printable;
use sframe_validator::elf::Elf;

/// The largest number of producers that are listed, and of bytes of each.
const MOST: usize = 8;
const LONGEST: usize = 200;

/// The strings in `.comment`, without repetitions.
pub(super) fn producers(elf: &Elf<'_>) -> Vec<String> {
    let section = elf.sections().iter().find(|section| section.name == b".comment");
    let data = section.and_then(|section| elf.section_data(section).ok()).unwrap_or_default();
    let mut found: Vec<String> = Vec::new();
    let strings = data.split(|byte| *byte == 0).filter(|string| !string.is_empty());
    for string in strings.take(64) {
        let text = printable(string.get(..LONGEST).unwrap_or(string));
        if found.len() < MOST && !found.contains(&text) {
            found.push(text);
        }
    }
    found
}
