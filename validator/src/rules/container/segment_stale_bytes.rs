use super::{segment_of_section, slack};
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::FileContext;

pub(super) static RULE: Rule = Rule {
    name: "segment-stale-bytes",
    group: Group::Container,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the bytes of PT_GNU_SFRAME after the section are zero",
        consequence: "A reader that takes the extent from the program header finds remnants of \
                      the linker's inputs after the section, and may mistake them for data.",
        remedy: "Run objcopy or strip, which correct the size; mold writes the right size.",
        source: "observed: GNU ld 2.40 to 2.47 keep the size, and the bytes, from before merging",
        example: "a shared object linked by GNU ld from two objects",
    },
};

pub(super) fn check(file: &FileContext<'_>, report: &mut Reporter<'_>) {
    let Some((segment, section)) = segment_of_section(file) else { return };
    let stale = match slack(file) {
        Some(bytes) => bytes.iter().any(|&byte| byte != 0),
        None => false,
    };
    if section.size > 0 && stale {
        report.elf_field(
            "p_filesz",
            format_args!("{:#x}", segment.file_size),
            format_args!("{:#x} (sh_size)", section.size),
            format_args!(
                "PT_GNU_SFRAME is {} bytes longer than the section, and these bytes are not zero",
                segment.file_size.saturating_sub(section.size)
            ),
        );
    }
}
