//! `search-table-segment`.

use sframe_validator::rules::{Abis, Group, Page, Rule, Severity, Versions};

pub(crate) static RULE: Rule = Rule {
    name: "search-table-segment",
    group: Group::Cfi,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "PT_GNU_EH_FRAME leads to .eh_frame_hdr",
        consequence: "Unwinders find the table by the program header. With another address they read something else; \
                      without the header they find no CFI in this file: exceptions that pass through it end the program, \
                      and stacks end there.",
        remedy: "Link again with --eh-frame-hdr, or name the section in PHDRS of the linker script. If a tool moved \
                      the section, it has to change the program header, too.",
        source: "LSB 5.0, 10.6.2 (.eh_frame_hdr); observed: libgcc and libunwind look for PT_GNU_EH_FRAME alone; allowed: a program for \
                 a bare machine, which may find the table by a symbol",
        example: "a shared object without the program header",
    },
};
