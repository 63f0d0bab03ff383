use super::{segment_of_section, slack};
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::FileContext;

pub(super) static RULE: Rule = Rule {
    name: "segment-long",
    group: Group::Container,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "PT_GNU_SFRAME ends where the section ends",
        consequence: "A reader that uses the program header sees bytes after the section.",
        remedy: "Run objcopy or strip, which correct the size.",
        source: "observed: GNU ld 2.40 to 2.47 keep the size from before merging in p_filesz",
        example: "a shared object whose PT_GNU_SFRAME is 8 bytes longer than .sframe, all zero",
    },
};

pub(super) fn check(file: &FileContext<'_>, report: &mut Reporter<'_>) {
    let Some((segment, section)) = segment_of_section(file) else { return };
    let zero = slack(file).is_some_and(|bytes| bytes.iter().all(|&byte| byte == 0));
    if section.size > 0 && segment.file_size > section.size && zero {
        report.elf_field(
            "p_filesz",
            format_args!("{:#x}", segment.file_size),
            format_args!("{:#x} (sh_size)", section.size),
            format_args!(
                "PT_GNU_SFRAME is {} bytes longer than the section",
                segment.file_size.saturating_sub(section.size)
            ),
        );
    }
}
