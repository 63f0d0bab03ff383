//! Compares the section with the file's code, symbols, stub sections, `.eh_frame_hdr` and instructions. Most of these
//! rules are lints: code without an entry may have no unwind information at all, which only its CFI can show, and code
//! may contain data.

mod function_size_symbol;
mod function_without_cfi;
mod repeat_outside_stubs;
mod row_inside_instruction;
mod stale_after_rewriting;
mod stubs_uncovered;
mod symbol_uncovered;

use alloc::vec::Vec;

use super::entry::{Check, Entry};
use crate::subject::extents::{CodeExtent, Extents};
use crate::unwind::CodeAddress;

/// The rules of this group, in the order in which they are listed.
pub(super) const RULES: &[Entry] = &[
    Entry::new(&stale_after_rewriting::RULE, Check::Total(stale_after_rewriting::check)),
    Entry::new(&symbol_uncovered::RULE, Check::Total(symbol_uncovered::check)),
    Entry::new(&function_size_symbol::RULE, Check::Total(function_size_symbol::check)),
    Entry::new(&stubs_uncovered::RULE, Check::Total(stubs_uncovered::check)),
    Entry::new(&repeat_outside_stubs::RULE, Check::Total(repeat_outside_stubs::check)),
    Entry::new(&row_inside_instruction::RULE, Check::Total(row_inside_instruction::check)),
    Entry::new(&function_without_cfi::RULE, Check::Total(function_without_cfi::check)),
];

/// The code of all non-empty functions, ordered by place.
fn code(extents: &Extents) -> Vec<CodeExtent> {
    extents.code.iter().copied().filter(|extent| extent.size > 0).collect()
}

/// Whether a function covers the byte at `place`. Functions may overlap in a broken section; then the one with the
/// nearest start decides.
fn covered(code: &[CodeExtent], place: CodeAddress) -> bool {
    let after = code.partition_point(|extent| extent.start <= place);
    let before = after.checked_sub(1).and_then(|before| code.get(before));
    before.is_some_and(|extent| place < extent.end())
}
