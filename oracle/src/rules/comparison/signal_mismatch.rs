//! `signal-mismatch`.

use sframe_validator::rules::{Abis, Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "signal-mismatch",
    group: Group::Comparison,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "version 3 functions are marked as signal frames where CFI has augmentation S",
        consequence: "The PC of an interrupted frame is that of an instruction that has not run \
                      yet, not the one after a call. With the wrong mark, a reader looks up the \
                      neighbouring function.",
        remedy: "Check .cfi_signal_frame, or report the producer.",
        source: "V3 2.3.2; LSB 10.6.1.1.1",
        example: "__restore_rt with bit 7 of sfda_func_info clear",
    },
};
