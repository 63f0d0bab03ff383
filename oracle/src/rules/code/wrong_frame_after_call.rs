//! `wrong-frame-after-call`.

use sframe_validator::rules::{Group, Page, Rule, Severity, Versions};

use super::ABIS;

pub(crate) static RULE: Rule = Rule {
    name: "wrong-frame-after-call",
    group: Group::Code,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: ABIS,
    about_tools: false,
    page: Page {
        summary: "the row at a return address has the frame of the call",
        consequence: "The GNU C library's backtrace and the stack walkers of Linux look up a return \
                          address itself, not the byte before it. After a call that does not return, that is \
                          the start of other code, and they take a wrong caller: in the frames above abort \
                          and throw.",
        remedy: "Write an instruction after the last call of a function, such as int3 or nop, or have the \
                     walker subtract one. Counted with --call-sites.",
        source: "observed: glibc 2.43 backtrace, Linux arch/*/kernel/stacktrace.c",
        example: "a call of abort at the end of a function with a frame, and the next function right after it",
    },
};
