//! Rules that compare rows with the machine code: the code proves what a frame is.
//!
//! The [comparison](crate::compare) finds the ranges; these rules are the pages about them.

mod cfi_contradicts_code;
mod inherited_error;
mod register_contradicts_code;
mod sframe_contradicts_code;
mod wrong_frame_after_call;

use sframe_validator::rules::{Abis, Rule};

use crate::compare::Wrong;

/// The machines whose code is examined.
const ABIS: Abis = Abis::AMD64.or(Abis::AARCH64);

/// The group's rules, in the order of the catalogue.
pub(super) const RULES: &[&Rule] = &[
    &sframe_contradicts_code::RULE,
    &inherited_error::RULE,
    &cfi_contradicts_code::RULE,
    &register_contradicts_code::RULE,
    &wrong_frame_after_call::RULE,
];

/// The rule about rows of SFrame that the code contradicts.
pub static SFRAME_CONTRADICTS_CODE: &Rule = &sframe_contradicts_code::RULE;

/// The rule about registers that no row of SFrame has.
pub static REGISTER_CONTRADICTS_CODE: &Rule = &register_contradicts_code::RULE;

/// The rule about [call sites](crate::compare::call_sites).
pub static WRONG_FRAME_AFTER_CALL: &Rule = &wrong_frame_after_call::RULE;

/// The rule that the rows of those who are wrong break.
pub(crate) const fn of(wrong: Wrong) -> &'static Rule {
    match wrong {
        Wrong::Inherited => &inherited_error::RULE,
        Wrong::Cfi => &cfi_contradicts_code::RULE,
        _ => &sframe_contradicts_code::RULE,
    }
}
