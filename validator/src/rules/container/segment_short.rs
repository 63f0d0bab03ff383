use super::segment_of_section;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::FileContext;

pub(super) static RULE: Rule = Rule {
    name: "segment-short",
    group: Group::Container,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "PT_GNU_SFRAME contains the whole section",
        consequence: "A reader that uses the program header sees a truncated section.",
        remedy: "Set p_filesz to the section's size.",
        source: "V3 1.1; observed: the kernel's patches take the section's end from the segment",
        example: "a shared object whose PT_GNU_SFRAME is 8 bytes shorter than .sframe",
    },
};

pub(super) fn check(file: &FileContext<'_>, report: &mut Reporter<'_>) {
    let Some((segment, section)) = segment_of_section(file) else { return };
    if file.is_linked() && segment.file_size < section.size {
        report.elf_field(
            "p_filesz",
            format_args!("{:#x}", segment.file_size),
            format_args!("{:#x} (sh_size)", section.size),
            format_args!("PT_GNU_SFRAME ends before the section does"),
        );
    }
}
