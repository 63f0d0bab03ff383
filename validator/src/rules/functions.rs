//! The function table: attributes of single functions, functions with rows that repeat (PC type MASK, used for the
//! linker's stubs), and the places of functions, which must be in code, in order, and without overlaps.

mod fde_type;
mod flex_abi;
mod flexible_without_rows;
mod fre_type;
mod fre_type_wide;
mod function_alignment;
mod function_at_null;
mod function_duplicate;
mod function_hidden;
mod function_info2_reserved;
mod function_info_reserved;
mod function_order;
mod function_outside_code;
mod function_overlap;
mod function_padding;
mod function_past_code;
mod function_size_zero;
mod function_without_rows;
mod outermost_by_absence;
mod pauth_key;
mod repeat_in_object;
mod repeat_size_multiple;
mod repeat_size_unknown;
mod repeat_size_unused;
mod repeat_size_unusual;
mod repeat_size_zero;
mod repeat_start_alignment;
mod rows_offset_outside;
mod signal_frame_size;

use super::entry::{Check, Entry};
use crate::subject::shape::{CodePlace, StartShape};

/// The rules of this group, in the order in which they are listed.
pub(super) const RULES: &[Entry] = &[
    Entry::new(&rows_offset_outside::RULE, Check::Function(rows_offset_outside::check)),
    Entry::new(&fre_type::RULE, Check::Function(fre_type::check)),
    Entry::new(&function_info_reserved::RULE, Check::Function(function_info_reserved::check)),
    Entry::new(&pauth_key::RULE, Check::Function(pauth_key::check)),
    Entry::new(&fde_type::RULE, Check::Function(fde_type::check)),
    Entry::new(&function_info2_reserved::RULE, Check::Function(function_info2_reserved::check)),
    Entry::new(&function_padding::RULE, Check::Function(function_padding::check)),
    Entry::new(&repeat_size_zero::RULE, Check::Function(repeat_size_zero::check)),
    Entry::new(&repeat_size_unknown::RULE, Check::Function(repeat_size_unknown::check)),
    Entry::new(&repeat_size_unused::RULE, Check::Function(repeat_size_unused::check)),
    Entry::new(&repeat_size_multiple::RULE, Check::Function(repeat_size_multiple::check)),
    Entry::new(&repeat_start_alignment::RULE, Check::Function(repeat_start_alignment::check)),
    Entry::new(&repeat_size_unusual::RULE, Check::Function(repeat_size_unusual::check)),
    Entry::new(&repeat_in_object::RULE, Check::Function(repeat_in_object::check)),
    Entry::new(&function_without_rows::RULE, Check::Function(function_without_rows::check)),
    Entry::new(&flexible_without_rows::RULE, Check::Function(flexible_without_rows::check)),
    Entry::new(&outermost_by_absence::RULE, Check::Function(outermost_by_absence::check)),
    Entry::new(&signal_frame_size::RULE, Check::AnyFunction(signal_frame_size::check)),
    Entry::new(&fre_type_wide::RULE, Check::AnyFunction(fre_type_wide::check)),
    Entry::new(&function_at_null::RULE, Check::Function(function_at_null::check)),
    Entry::new(&function_outside_code::RULE, Check::Function(function_outside_code::check)),
    Entry::new(&function_past_code::RULE, Check::Function(function_past_code::check)),
    Entry::new(&function_alignment::RULE, Check::Function(function_alignment::check)),
    Entry::new(&function_size_zero::RULE, Check::Function(function_size_zero::check)),
    Entry::new(&function_order::RULE, Check::Function(function_order::check)),
    Entry::new(&function_overlap::RULE, Check::Total(function_overlap::check)),
    Entry::new(&function_duplicate::RULE, Check::Total(function_duplicate::check)),
    Entry::new(&function_hidden::RULE, Check::Total(function_hidden::check)),
    Entry::new(&flex_abi::RULE, Check::Function(flex_abi::check)),
];

/// Whether linkers resolve references into discarded sections to this place. Code can still be at address 0
/// (`-Ttext=0`).
fn is_tombstone(start: StartShape) -> bool {
    start.is_extreme && matches!(start.code, CodePlace::AtEnd | CodePlace::Outside)
}
