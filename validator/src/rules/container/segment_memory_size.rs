use super::sframe_segment;
use crate::elf::SHT_NOBITS;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::FileContext;

pub(super) static RULE: Rule = Rule {
    name: "segment-memory-size",
    group: Group::Container,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "PT_GNU_SFRAME has the same size in the file and in memory",
        consequence: "A reader that uses the size in memory reads bytes that are not in the file.",
        remedy: "Set p_memsz to p_filesz.",
        source: "observed: GNU ld and mold write equal sizes",
        example: "a shared object whose PT_GNU_SFRAME has p_memsz = p_filesz + 8",
    },
};

pub(super) fn check(file: &FileContext<'_>, report: &mut Reporter<'_>) {
    let Some(segment) = sframe_segment(file) else { return };
    if file.is_linked()
        && file.sframe.sh_type != SHT_NOBITS
        && segment.file_size != segment.memory_size
    {
        report.elf_field(
            "p_memsz",
            format_args!("{:#x}", segment.memory_size),
            format_args!("{:#x} (p_filesz)", segment.file_size),
            format_args!("PT_GNU_SFRAME has different sizes in memory and in the file"),
        );
    }
}
