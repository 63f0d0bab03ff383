//! The rules that need a second witness: those that compare SFrame with CFI,
//! those that compare both with the machine code, and those about the CFI itself.
//!
//! They have pages like the validator's own rules, and produce the same kind of [findings]. [`account`](crate::account)
//! applies them.
//!
//! [findings]: sframe_validator::finding::Finding

mod cfi;
pub(crate) mod code;
pub(crate) mod comparison;

use sframe_validator::rules::Rule;

pub(crate) use cfi::{CFI_OUTSIDE_CODE, CFI_SECTIONS_DIFFER};
pub use cfi::{rule_of, rule_of_search};
pub use code::{REGISTER_CONTRADICTS_CODE, SFRAME_CONTRADICTS_CODE, WRONG_FRAME_AFTER_CALL};
pub use comparison::{SECTION_MISSING, USELESS_SECTION};

const COUNT: usize = comparison::RULES.len() + code::RULES.len() + cfi::RULES.len();

/// Every rule of this crate, group by group.
///
/// ```
/// use sframe_oracle::rules::CATALOGUE;
/// assert!(CATALOGUE.iter().any(|rule| rule.name == "cfa-mismatch"));
/// ```
pub static CATALOGUE: &[&Rule] = &{
    let mut all = [&comparison::UNEXPLAINED_LOSS; COUNT];
    let (first, rest) = all.split_at_mut(comparison::RULES.len());
    let (second, rest) = rest.split_at_mut(code::RULES.len());
    first.copy_from_slice(comparison::RULES);
    second.copy_from_slice(code::RULES);
    rest.copy_from_slice(cfi::RULES);
    all
};

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
