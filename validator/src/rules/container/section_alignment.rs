use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::FileContext;

pub(super) static RULE: Rule = Rule {
    name: "section-alignment",
    group: Group::Container,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the section is aligned to at least 4 bytes, and its address is a multiple of \
                  its alignment",
        consequence: "Readers that load header fields as aligned 32-bit words fault or are slow.",
        remedy: "Align the section to 8 bytes, as the assemblers do.",
        source: "V2 1.1 (naturally aligned header); observed: GNU as, LLVM and mold align to 8",
        example: "an object whose .sframe is aligned to 1 byte",
    },
};

pub(super) fn check(file: &FileContext<'_>, report: &mut Reporter<'_>) {
    let alignment = file.sframe.alignment;
    if alignment < 4 {
        report.elf_field(
            "sh_addralign",
            alignment,
            "at least 4, usually 8",
            format_args!("the section is aligned to {alignment} bytes, but its header needs 4"),
        );
    } else if file.is_linked() && !file.sframe.address.is_multiple_of(alignment) {
        report.elf_field(
            "sh_addr",
            format_args!("{:#x}", file.sframe.address),
            format_args!("a multiple of {alignment}"),
            format_args!(
                "the section's address {:#x} is not a multiple of its alignment {alignment}",
                file.sframe.address
            ),
        );
    }
}
