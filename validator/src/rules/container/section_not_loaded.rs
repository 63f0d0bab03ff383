use crate::elf::SHF_ALLOC;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::FileContext;

pub(super) static RULE: Rule = Rule {
    name: "section-not-loaded",
    group: Group::Container,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the section has the flag SHF_ALLOC",
        consequence: "The section is not in memory at run time, where stack tracers look for it.",
        remedy: "Add \"a\" to the section's flags.",
        source: "V3 1.1 (\"a loaded section\")",
        example: "an object whose .sframe has no flags",
    },
};

pub(super) fn check(file: &FileContext<'_>, report: &mut Reporter<'_>) {
    if file.sframe.flags & SHF_ALLOC == 0 {
        report.elf_field(
            "sh_flags",
            format_args!("{:#x}", file.sframe.flags),
            "0x2 (SHF_ALLOC)",
            format_args!("the section is not loaded: SHF_ALLOC is clear"),
        );
    }
}
