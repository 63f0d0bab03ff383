//! The rules that take two sources to check: SFrame against CFI, and the CFI itself.
//!
//! They have the same pages as the validator's own, and the same kind of [findings]; what applies
//! them is [`account`](crate::account).
//!
//! [findings]: sframe_validator::finding::Finding

pub(crate) mod cfi;
pub(crate) mod comparison;

use sframe_validator::rules::Rule;

/// Every rule of this crate.
///
/// ```
/// use sframe_oracle::rules::CATALOGUE;
/// assert!(CATALOGUE.iter().any(|rule| rule.name == "cfa-mismatch"));
/// ```
pub static CATALOGUE: &[&Rule] = &[
    &comparison::CFA_MISMATCH,
    &comparison::RA_MISMATCH,
    &comparison::FP_MISMATCH,
    &comparison::RA_SIGNING_MISMATCH,
    &comparison::OUTERMOST_MISMATCH,
    &comparison::SIGNAL_MISMATCH,
    &comparison::UNEXPLAINED_LOSS,
    &comparison::SFRAME_WITHOUT_CFI,
    &cfi::TRUNCATED,
    &cfi::ENTRY_LENGTH,
    &cfi::ENTRIES_AFTER_TERMINATOR,
    &cfi::NUMBER_TOO_LARGE,
    &cfi::CIE_VERSION,
    &cfi::ADDRESS_SIZE,
    &cfi::REGISTER_NUMBER,
    &cfi::BAD_CIE_POINTER,
    &cfi::POINTER_ENCODING,
    &cfi::ADDRESS_OVERFLOW,
    &cfi::EMPTY_RANGE,
    &cfi::OVERLAP,
    &cfi::DISCARDED,
    &cfi::UNKNOWN_INSTRUCTION,
    &cfi::NOT_INITIAL,
    &cfi::UNBALANCED_RESTORE_STATE,
    &cfi::CFA_NOT_REGISTER,
    &cfi::OFFSET_OVERFLOW,
    &cfi::ADVANCE_PAST_END,
    &cfi::SET_LOC_BACKWARDS,
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use sframe_validator::rules::CATALOGUE as VALIDATOR;

    use super::CATALOGUE;

    #[test]
    fn names_are_one_of_a_kind_and_in_kebab_case() {
        let names: Vec<_> = CATALOGUE.iter().chain(VALIDATOR).map(|rule| rule.name).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        for name in names {
            let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
            assert!(name.chars().all(fits), "{name}");
        }
    }

    #[test]
    fn every_page_is_filled() {
        for rule in CATALOGUE {
            for text in [
                rule.page.summary,
                rule.page.consequence,
                rule.page.remedy,
                rule.page.source,
                rule.page.example,
            ] {
                assert!(!text.is_empty() && !text.contains("  "), "{}: {text:?}", rule.name);
            }
            assert!(!rule.page.summary.ends_with('.'), "{}", rule.name);
            assert!(
                rule.page.consequence.ends_with('.') && rule.page.remedy.ends_with('.'),
                "{}",
                rule.name
            );
        }
    }
}
