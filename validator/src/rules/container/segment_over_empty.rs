use super::sframe_segment;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::FileContext;

pub(super) static RULE: Rule = Rule {
    name: "segment-over-empty",
    group: Group::Container,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "a file whose section is empty has no PT_GNU_SFRAME segment",
        consequence: "A reader that uses the program header mistakes the bytes after the empty \
                      section for a header.",
        remedy: "Discard the empty section (--discard-sframe), or keep one function with data.",
        source: "observed: GNU ld when no function of its inputs is left",
        example: "a shared object with an empty .sframe and PT_GNU_SFRAME of 28 bytes",
    },
};

pub(super) fn check(file: &FileContext<'_>, report: &mut Reporter<'_>) {
    let Some(segment) = sframe_segment(file) else { return };
    if file.is_linked() && file.sframe.size == 0 && !file.sframe.is_segment() {
        report.elf_field(
            "p_filesz",
            format_args!("{:#x}", segment.file_size),
            "no PT_GNU_SFRAME",
            format_args!("PT_GNU_SFRAME leads to a section of size 0"),
        );
    }
}
