//! The table of all rules, in the order in which they are listed.

use super::Rule;

/// Every rule, group by group.
pub static CATALOGUE: &[&Rule] = &[];
