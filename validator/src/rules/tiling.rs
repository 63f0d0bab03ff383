//! How the header, the function table and the rows fill the section. Sums of 32-bit fields are computed in 64 bits, so
//! they cannot wrap.

mod concatenated_section;
mod function_table_alignment;
mod function_table_offset;
mod function_table_outside;
mod rows_outside;
mod section_padding;
mod subsection_gap;
mod subsection_overlap;
mod trailing_bytes;
mod version_entry_size;

use core::ops::Range;

use super::concatenation::concatenated_at;
use super::entry::{Check, Entry};
use crate::section::{Header, Section, Version};
use crate::subject::SectionContext;

/// The rules of this group, in the order in which they are listed.
pub(super) const RULES: &[Entry] = &[
    Entry::new(&function_table_outside::RULE, Check::Layout(function_table_outside::check)),
    Entry::new(&rows_outside::RULE, Check::Layout(rows_outside::check)),
    Entry::new(&subsection_overlap::RULE, Check::Layout(subsection_overlap::check)),
    Entry::new(&function_table_offset::RULE, Check::Section(function_table_offset::check)),
    Entry::new(&version_entry_size::RULE, Check::Layout(version_entry_size::check)),
    Entry::new(&subsection_gap::RULE, Check::Section(subsection_gap::check)),
    Entry::new(&function_table_alignment::RULE, Check::Section(function_table_alignment::check)),
    Entry::new(&trailing_bytes::RULE, Check::Section(trailing_bytes::check)),
    Entry::new(&section_padding::RULE, Check::Section(section_padding::check)),
    Entry::new(&concatenated_section::RULE, Check::Layout(concatenated_section::check)),
];

/// The header, unless it ends outside the section. In that case, the other offsets are meaningless.
fn header<'a>(section: &SectionContext<'a>) -> Option<&'a Header> {
    let header = section.header();
    (header.size() <= section.size()).then_some(header)
}

/// The version whose entries would exactly fill the space between the table's start and the rows, if the entries of the
/// header's version neither fill it nor lead to all rows. A table with a single entry is not enough evidence.
fn version_by_entries(section: &Section<'_>) -> Option<Version> {
    let header = section.header();
    let room = header.fre_start().checked_sub(header.fde_table_start())?;
    let count = u64::from(header.num_fdes);
    let fills = |version: &Version| count > 1 && count * version.entry_size() == room;
    let version = Version::ALL.into_iter().find(fills)?;
    (version != header.version && !has_all_rows(section)).then_some(version)
}

/// Whether the entries, read according to the header, lead to as many rows as it states.
fn has_all_rows(section: &Section<'_>) -> bool {
    let mut budget = section.row_budget();
    let mut rows = 0;
    for function in section.functions() {
        let Some(entries) = function.ok().and_then(|f| f.frame_row_entries().ok()) else {
            return false;
        };
        for row in entries {
            if !row.is_ok_and(|row| budget.charge(&row).is_ok()) {
                return false;
            }
            rows += 1;
        }
    }
    rows == section.header().num_fres
}

/// The bytes after the FRE sub-section, if the parts before it do not overlap and no other section starts there.
fn trailing(section: &SectionContext<'_>) -> Option<Range<u64>> {
    let header = section.header();
    let end = header.fre_end();
    // If rows and functions overlap, the end of the rows is uncertain as well.
    let tiled = header.fde_table_end() <= header.fre_start();
    let trails = tiled && end < section.size() && concatenated_at(section.section).is_none();
    trails.then(|| end..section.size())
}

/// Whether the bytes are zero and fill the section up to the next multiple of 8.
fn is_padding(section: &SectionContext<'_>, trailing: &Range<u64>) -> bool {
    let bytes =
        usize::try_from(trailing.start).ok().and_then(|at| section.section.data().get(at..));
    let zero = bytes.is_some_and(|bytes| bytes.iter().all(|&byte| byte == 0));
    zero && trailing.end == trailing.start.next_multiple_of(8)
}
