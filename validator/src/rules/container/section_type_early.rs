use crate::elf::{SHT_NOBITS, SHT_PROGBITS};
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::FileContext;

pub(super) static RULE: Rule = Rule {
    name: "section-type-early",
    group: Group::Container,
    severity: Severity::Lint,
    versions: Versions::UP_TO_2,
    abis: Abis::ALL,
    about_tools: true,
    page: Page {
        summary: "sections from before errata 1 have the type SHT_PROGBITS",
        consequence: "None for readers. No known producer writes such a section.",
        remedy: "Find out which tool wrote the section.",
        source: "observed: GNU as and ld 2.40 to 2.44",
        example: "a version 2 section without the PC-relative flag, of type SHT_GNU_SFRAME",
    },
};

pub(super) fn check(file: &FileContext<'_>, report: &mut Reporter<'_>) {
    let Some(section) = file.section else { return };
    let sh_type = file.sframe.sh_type;
    let early = !section.header().flags.pcrel();
    if early && sh_type != SHT_PROGBITS && sh_type != SHT_NOBITS {
        report.elf_field(
            "sh_type",
            format_args!("{sh_type:#x}"),
            "0x1 (SHT_PROGBITS)",
            format_args!(
                "the section's type is {sh_type:#x}, but producers that write no PC-relative \
                 starts use SHT_PROGBITS"
            ),
        );
    }
}
