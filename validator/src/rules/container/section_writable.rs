use crate::elf::SHF_WRITE;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::FileContext;

pub(super) static RULE: Rule = Rule {
    name: "section-writable",
    group: Group::Container,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the section does not have the flag SHF_WRITE",
        consequence: "The traced program can change stack-trace data in writable memory, and its \
                      pages are not shared.",
        remedy: "Remove \"w\" from the section's flags in every input.",
        source: "observed: GNU ld's default script places a read-only .sframe among read-only data",
        example: "an object whose .sframe has the flags \"aw\"",
    },
};

pub(super) fn check(file: &FileContext<'_>, report: &mut Reporter<'_>) {
    if file.sframe.flags & SHF_WRITE != 0 {
        report.elf_field(
            "sh_flags",
            format_args!("{:#x}", file.sframe.flags),
            "0x2 (SHF_ALLOC)",
            format_args!("the section is writable: SHF_WRITE is set"),
        );
    }
}
