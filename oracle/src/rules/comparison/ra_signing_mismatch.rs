//! `ra-signing-mismatch`.

use sframe_validator::rules::{Abis, Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "ra-signing-mismatch",
    group: Group::Comparison,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "rows mark the return address as signed, and with the key, where CFI does (AArch64)",
        consequence: "A reader leaves the authentication code in the address, or removes bits of \
                      a plain one. An unwinder that authenticates with the other key faults.",
        remedy: "Check .cfi_negate_ra_state and .cfi_b_key_frame, or report the producer.",
        source: "V3 2.4.1, 2.3.2; AArch64 DWARF ABI: RA_SIGN_STATE",
        example: "bit 7 of the info byte clear after a negate_ra_state",
    },
};
