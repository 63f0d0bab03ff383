//! All cases.

mod bombs;
mod corpus;
mod defects;
mod file;
mod sound;
mod structure;

use super::case::Case;

/// Every case, always in the same order; sound sections first.
#[must_use]
pub fn all() -> Vec<Case> {
    let mut cases = sound::cases();
    cases.extend(corpus::cases());
    cases.extend(defects::cases());
    cases.extend(bombs::cases());
    cases.extend(structure::cases());
    cases
}
