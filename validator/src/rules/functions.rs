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
    Entry::new(
        &rows_offset_outside::RULE,
        Check::Function(rows_offset_outside::is_broken, rows_offset_outside::report),
    ),
    Entry::new(&fre_type::RULE, Check::Attributes(fre_type::is_broken, fre_type::report)),
    Entry::new(
        &function_info_reserved::RULE,
        Check::Attributes(function_info_reserved::is_broken, function_info_reserved::report),
    ),
    Entry::new(&pauth_key::RULE, Check::Attributes(pauth_key::is_broken, pauth_key::report)),
    Entry::new(&fde_type::RULE, Check::Attributes(fde_type::is_broken, fde_type::report)),
    Entry::new(
        &function_info2_reserved::RULE,
        Check::Attributes(function_info2_reserved::is_broken, function_info2_reserved::report),
    ),
    Entry::new(
        &function_padding::RULE,
        Check::Attributes(function_padding::is_broken, function_padding::report),
    ),
    Entry::new(
        &repeat_size_zero::RULE,
        Check::Attributes(repeat_size_zero::is_broken, repeat_size_zero::report),
    ),
    Entry::new(
        &repeat_size_unused::RULE,
        Check::Attributes(repeat_size_unused::is_broken, repeat_size_unused::report),
    ),
    Entry::new(
        &repeat_size_multiple::RULE,
        Check::Attributes(repeat_size_multiple::is_broken, repeat_size_multiple::report),
    ),
    Entry::new(
        &repeat_start_alignment::RULE,
        Check::Attributes(repeat_start_alignment::is_broken, repeat_start_alignment::report),
    ),
    Entry::new(
        &repeat_size_unusual::RULE,
        Check::Attributes(repeat_size_unusual::is_broken, repeat_size_unusual::report),
    ),
    Entry::new(
        &repeat_in_object::RULE,
        Check::Attributes(repeat_in_object::is_broken, repeat_in_object::report),
    ),
    Entry::new(
        &function_without_rows::RULE,
        Check::Attributes(function_without_rows::is_broken, function_without_rows::report),
    ),
    Entry::new(
        &flexible_without_rows::RULE,
        Check::Attributes(flexible_without_rows::is_broken, flexible_without_rows::report),
    ),
    Entry::new(
        &outermost_by_absence::RULE,
        Check::Attributes(outermost_by_absence::is_broken, outermost_by_absence::report),
    ),
    Entry::new(&signal_frame_size::RULE, Check::AnyFunction(signal_frame_size::check)),
    Entry::new(&fre_type_wide::RULE, Check::AnyFunction(fre_type_wide::check)),
    Entry::new(
        &function_at_null::RULE,
        Check::Function(function_at_null::is_broken, function_at_null::report),
    ),
    Entry::new(
        &function_outside_code::RULE,
        Check::Function(function_outside_code::is_broken, function_outside_code::report),
    ),
    Entry::new(
        &function_past_code::RULE,
        Check::Function(function_past_code::is_broken, function_past_code::report),
    ),
    Entry::new(
        &function_alignment::RULE,
        Check::Function(function_alignment::is_broken, function_alignment::report),
    ),
    Entry::new(
        &function_size_zero::RULE,
        Check::Function(function_size_zero::is_broken, function_size_zero::report),
    ),
    Entry::new(
        &function_order::RULE,
        Check::Function(function_order::is_broken, function_order::report),
    ),
    Entry::new(&function_overlap::RULE, Check::Total(function_overlap::check)),
    Entry::new(&function_duplicate::RULE, Check::Total(function_duplicate::check)),
    Entry::new(&flex_abi::RULE, Check::Attributes(flex_abi::is_broken, flex_abi::report)),
];

/// Whether linkers resolve references into discarded sections to this place. Code can still be at address 0
/// (`-Ttext=0`).
fn is_tombstone(start: StartShape) -> bool {
    start.is_extreme && matches!(start.code, CodePlace::AtEnd | CodePlace::Outside)
}
