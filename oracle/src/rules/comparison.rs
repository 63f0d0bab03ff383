//! Rules that compare SFrame with CFI: both must recover the same values at a PC.
//!
//! The [comparison](crate::compare) finds the differences; these rules are the pages about them.

mod cfa_mismatch;
mod fp_mismatch;
mod outermost_mismatch;
mod ra_mismatch;
mod ra_signing_mismatch;
mod section_missing;
mod sframe_without_cfi;
mod signal_mismatch;
mod unexplained_loss;
mod useless_section;

use sframe_validator::rules::Rule;

use crate::compare::Fields;

pub(crate) use sframe_without_cfi::RULE as SFRAME_WITHOUT_CFI;
pub(crate) use unexplained_loss::RULE as UNEXPLAINED_LOSS;

/// The rule that a file with code breaks if it has no SFrame section, for callers that require one.
pub static SECTION_MISSING: &Rule = &section_missing::RULE;

/// The rule that a section breaks if known defects leave almost nothing of it, for callers that know such defects.
pub static USELESS_SECTION: &Rule = &useless_section::RULE;

/// The group's rules, in the order of the catalogue.
pub(super) const RULES: &[&Rule] = &[
    &cfa_mismatch::RULE,
    &ra_mismatch::RULE,
    &fp_mismatch::RULE,
    &ra_signing_mismatch::RULE,
    &outermost_mismatch::RULE,
    &signal_mismatch::RULE,
    &unexplained_loss::RULE,
    &sframe_without_cfi::RULE,
    &section_missing::RULE,
    &useless_section::RULE,
];

/// The rule that a difference in `fields` breaks; if several apply, the first one.
pub(crate) fn of(fields: Fields) -> &'static Rule {
    const ORDER: [(Fields, &Rule); 5] = [
        (Fields::CFA, &cfa_mismatch::RULE),
        (Fields::RA, &ra_mismatch::RULE),
        (Fields::FP, &fp_mismatch::RULE),
        (Fields::RA_SIGNING, &ra_signing_mismatch::RULE),
        (Fields::UNDEFINED_RA, &outermost_mismatch::RULE),
    ];
    let first = ORDER.iter().find(|(field, _)| fields.contains(*field));
    first.map_or(&signal_mismatch::RULE, |(_, rule)| rule)
}
