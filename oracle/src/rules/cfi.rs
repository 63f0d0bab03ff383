//! Rules about call frame information that an unwinder cannot read, misreads, or does not find.
//!
//! The defects are found while reading CFI ([`CfiErrorKind`]), and by comparing it with the table that unwinders search
//! ([`SearchDefectKind`]); these rules are the pages about them.

mod cfi_address_overflow;
mod cfi_address_size;
mod cfi_advance_past_end;
mod cfi_bad_cie_pointer;
mod cfi_cfa_not_register;
mod cfi_cie_version;
mod cfi_discarded;
mod cfi_empty_range;
mod cfi_entries_after_terminator;
mod cfi_entry_length;
mod cfi_not_initial;
mod cfi_number_too_large;
mod cfi_offset_overflow;
mod cfi_outside_code;
mod cfi_overlap;
mod cfi_pointer_encoding;
mod cfi_register_number;
mod cfi_sections_differ;
mod cfi_set_loc_backwards;
mod cfi_truncated;
mod cfi_unbalanced_restore_state;
mod cfi_unknown_augmentation;
mod cfi_unknown_instruction;
mod search_table_entry;
mod search_table_hidden;
mod search_table_incomplete;
mod search_table_order;
mod search_table_pointer;
mod search_table_segment;
mod search_table_unreadable;

use sframe_validator::rules::Rule;

use crate::cfi::{CfiErrorKind, SearchDefectKind, is_defined};

pub(crate) use cfi_outside_code::RULE as CFI_OUTSIDE_CODE;
pub(crate) use cfi_sections_differ::RULE as CFI_SECTIONS_DIFFER;

/// The group's rules, in the order of the catalogue.
pub(super) const RULES: &[&Rule] = &[
    &cfi_truncated::RULE,
    &cfi_entry_length::RULE,
    &cfi_entries_after_terminator::RULE,
    &cfi_number_too_large::RULE,
    &cfi_cie_version::RULE,
    &cfi_unknown_augmentation::RULE,
    &cfi_address_size::RULE,
    &cfi_register_number::RULE,
    &cfi_bad_cie_pointer::RULE,
    &cfi_pointer_encoding::RULE,
    &cfi_address_overflow::RULE,
    &cfi_empty_range::RULE,
    &cfi_overlap::RULE,
    &cfi_discarded::RULE,
    &CFI_OUTSIDE_CODE,
    &CFI_SECTIONS_DIFFER,
    &cfi_unknown_instruction::RULE,
    &cfi_not_initial::RULE,
    &cfi_unbalanced_restore_state::RULE,
    &cfi_cfa_not_register::RULE,
    &cfi_offset_overflow::RULE,
    &cfi_advance_past_end::RULE,
    &cfi_set_loc_backwards::RULE,
    &search_table_segment::RULE,
    &search_table_unreadable::RULE,
    &search_table_pointer::RULE,
    &search_table_order::RULE,
    &search_table_entry::RULE,
    &search_table_incomplete::RULE,
    &search_table_hidden::RULE,
];

/// The rule that a defect of call frame information breaks. A limit of this reader, or information that the file no
/// longer contains, breaks no rule: it leaves code undecided.
///
/// ```
/// use sframe_oracle::cfi::CfiErrorKind;
/// use sframe_oracle::rules::rule_of;
/// assert!(rule_of(&CfiErrorKind::UnbalancedRestoreState).is_some());
/// assert!(rule_of(&CfiErrorKind::UnresolvedRelocation).is_none());
/// ```
#[must_use]
pub fn rule_of(kind: &CfiErrorKind) -> Option<&'static Rule> {
    Some(match kind {
        CfiErrorKind::Truncated => &cfi_truncated::RULE,
        CfiErrorKind::NumberTooLarge => &cfi_number_too_large::RULE,
        CfiErrorKind::EntryLength { .. } => &cfi_entry_length::RULE,
        CfiErrorKind::EntriesAfterTerminator => &cfi_entries_after_terminator::RULE,
        CfiErrorKind::BadCiePointer(_) => &cfi_bad_cie_pointer::RULE,
        CfiErrorKind::CieVersion(_) => &cfi_cie_version::RULE,
        CfiErrorKind::Augmentation(_) => &cfi_unknown_augmentation::RULE,
        CfiErrorKind::AddressSize(_) => &cfi_address_size::RULE,
        CfiErrorKind::PointerEncoding(encoding) if !is_defined(*encoding) => {
            &cfi_pointer_encoding::RULE
        }
        CfiErrorKind::AddressOverflow => &cfi_address_overflow::RULE,
        CfiErrorKind::OffsetOverflow => &cfi_offset_overflow::RULE,
        CfiErrorKind::RegisterNumber(_) => &cfi_register_number::RULE,
        CfiErrorKind::EmptyRange => &cfi_empty_range::RULE,
        CfiErrorKind::Overlap(_) => &cfi_overlap::RULE,
        CfiErrorKind::UnknownInstruction(_) => &cfi_unknown_instruction::RULE,
        CfiErrorKind::UnbalancedRestoreState => &cfi_unbalanced_restore_state::RULE,
        CfiErrorKind::CfaNotRegister => &cfi_cfa_not_register::RULE,
        CfiErrorKind::NotInitial(_) => &cfi_not_initial::RULE,
        CfiErrorKind::AdvancePastEnd { .. } => &cfi_advance_past_end::RULE,
        CfiErrorKind::SetLocBackwards { .. } => &cfi_set_loc_backwards::RULE,
        CfiErrorKind::Discarded => &cfi_discarded::RULE,
        // The CIE's own defect is reported once; its functions are undecided.
        CfiErrorKind::UnreadableCie(_)
        | CfiErrorKind::UnreadableSection(_)
        | CfiErrorKind::PointerEncoding(_)
        | CfiErrorKind::IndirectPointer(_)
        | CfiErrorKind::TooManyStates
        | CfiErrorKind::MissingRelocation
        | CfiErrorKind::UnresolvedRelocation
        | CfiErrorKind::RelocationType(_) => return None,
    })
}

/// The rule that a defect of the table that unwinders search breaks.
///
/// ```
/// use sframe_oracle::cfi::SearchDefectKind;
/// use sframe_oracle::rules::rule_of_search;
/// assert_eq!(rule_of_search(&SearchDefectKind::NoSegment).name, "search-table-segment");
/// ```
#[must_use]
pub fn rule_of_search(kind: &SearchDefectKind) -> &'static Rule {
    match kind {
        SearchDefectKind::NoSegment | SearchDefectKind::Segment { .. } => {
            &search_table_segment::RULE
        }
        SearchDefectKind::Unreadable(_) => &search_table_unreadable::RULE,
        SearchDefectKind::Pointer { .. } => &search_table_pointer::RULE,
        SearchDefectKind::Unsorted { .. } => &search_table_order::RULE,
        SearchDefectKind::NoFde { .. } | SearchDefectKind::Start { .. } => {
            &search_table_entry::RULE
        }
        SearchDefectKind::Missing { .. } => &search_table_incomplete::RULE,
        SearchDefectKind::Hidden { .. } => &search_table_hidden::RULE,
    }
}
