use super::sframe_segment;
use crate::elf::SHT_NOBITS;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::FileContext;

pub(super) static RULE: Rule = Rule {
    name: "segment-address",
    group: Group::Container,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "PT_GNU_SFRAME starts where the section starts, in memory and in the file",
        consequence: "A reader that uses the program header mistakes other bytes for the \
                      section's header.",
        remedy: "Run the tool that moved the section again with one that updates program headers.",
        source: "V3 1.1; observed: glibc's dl_find_object and the kernel's patches use p_vaddr",
        example: "a shared object whose PT_GNU_SFRAME is 8 bytes off",
    },
};

pub(super) fn check(file: &FileContext<'_>, report: &mut Reporter<'_>) {
    let Some(segment) = sframe_segment(file) else { return };
    let section = file.sframe;
    if !file.is_linked() || section.size == 0 || section.sh_type == SHT_NOBITS {
        return;
    }
    if segment.address != section.address {
        report.elf_field(
            "p_vaddr",
            format_args!("{:#x}", segment.address),
            format_args!("{:#x}", section.address),
            format_args!("PT_GNU_SFRAME does not start at the section's address"),
        );
    } else if segment.offset != section.offset {
        report.elf_field(
            "p_offset",
            format_args!("{:#x}", segment.offset),
            format_args!("{:#x}", section.offset),
            format_args!("PT_GNU_SFRAME does not start at the section's file offset"),
        );
    }
}
