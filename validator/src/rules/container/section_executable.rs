use crate::elf::SHF_EXECINSTR;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::FileContext;

pub(super) static RULE: Rule = Rule {
    name: "section-executable",
    group: Group::Container,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the section does not have the flag SHF_EXECINSTR",
        consequence: "The linker places the data among code, where it can be executed.",
        remedy: "Remove \"x\" from the section's flags.",
        source: "V3 1.1; observed: every producer sets only SHF_ALLOC",
        example: "an object whose .sframe has the flags \"ax\"",
    },
};

pub(super) fn check(file: &FileContext<'_>, report: &mut Reporter<'_>) {
    if file.sframe.flags & SHF_EXECINSTR != 0 {
        report.elf_field(
            "sh_flags",
            format_args!("{:#x}", file.sframe.flags),
            "0x2 (SHF_ALLOC)",
            format_args!("the section is marked as machine code: SHF_EXECINSTR is set"),
        );
    }
}
