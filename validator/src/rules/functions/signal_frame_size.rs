use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::FunctionField;
use crate::subject::FunctionContext;

pub(super) static RULE: Rule = Rule {
    name: "signal-frame-size",
    group: Group::Functions,
    severity: Severity::Lint,
    versions: Versions::V3,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "a signal frame's function is a short trampoline of at most 64 bytes",
        consequence: "In ordinary functions, the mark makes tracers look up the wrong PC: that of \
                      the instruction after the call instead of the call.",
        remedy: "Check that .cfi_signal_frame is in the right function.",
        source: "V3 2.3.3; restorers load a number and make a system call: 2 to 16 bytes",
        example: "a signal frame of 256 bytes",
    },
};

pub(super) fn check(function: &FunctionContext<'_>, report: &mut Reporter<'_>) {
    let Some(readable) = function.readable() else { return };
    if readable.is_signal_frame() && readable.size() > 64 {
        report.field(
            function.field(FunctionField::Size),
            readable.size(),
            "at most 64",
            format_args!("a signal frame's function is {} bytes long", readable.size()),
        );
    }
}
