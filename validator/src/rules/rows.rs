//! The row stream: whether rows can be read, where they start in their function, and how the rows of all functions fill
//! the FRE sub-section.

mod entry_cfa;
mod first_row_offset;
mod mangled_at_entry;
mod row_after_outermost;
mod row_alignment;
mod row_at_end;
mod row_count_total;
mod row_duplicate_start;
mod row_order;
mod row_outside_block;
mod row_past_end;
mod row_redundant;
mod row_truncated;
mod rows_order_in_object;
mod rows_overlap;
mod rows_unused;
mod word_size_reserved;

use super::entry::{Check, Entry};
use crate::subject::TotalContext;

/// The rules of this group, in the order in which they are listed.
pub(super) const RULES: &[Entry] = &[
    Entry::new(&row_truncated::RULE, Check::UnreadableRow(row_truncated::check)),
    Entry::new(&word_size_reserved::RULE, Check::UnreadableRow(word_size_reserved::check)),
    Entry::new(&first_row_offset::RULE, Check::RowPlace(first_row_offset::check)),
    Entry::new(&row_order::RULE, Check::RowPlace(row_order::check)),
    Entry::new(&row_duplicate_start::RULE, Check::RowPlace(row_duplicate_start::check)),
    Entry::new(&row_past_end::RULE, Check::RowPlace(row_past_end::check)),
    Entry::new(&row_at_end::RULE, Check::RowPlace(row_at_end::check)),
    Entry::new(&row_outside_block::RULE, Check::RowPlace(row_outside_block::check)),
    Entry::new(&row_alignment::RULE, Check::RowPlace(row_alignment::check)),
    Entry::new(&row_redundant::RULE, Check::AnyRow(row_redundant::check)),
    Entry::new(&row_after_outermost::RULE, Check::AnyRow(row_after_outermost::check)),
    Entry::new(&entry_cfa::RULE, Check::AnyRow(entry_cfa::check)),
    Entry::new(&mangled_at_entry::RULE, Check::AnyRow(mangled_at_entry::check)),
    Entry::new(&rows_overlap::RULE, Check::Total(rows_overlap::check)),
    Entry::new(&rows_unused::RULE, Check::Total(rows_unused::check)),
    Entry::new(&row_count_total::RULE, Check::Total(row_count_total::check)),
    Entry::new(&rows_order_in_object::RULE, Check::Total(rows_order_in_object::check)),
];

/// Whether the rows of any two functions overlap.
fn blocks_overlap(total: &TotalContext<'_>) -> bool {
    total.extents.overlapping_blocks().next().is_some()
}
