use crate::elf::{SHT_GNU_SFRAME, SHT_NOBITS};
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::Version;
use crate::subject::FileContext;

pub(super) static RULE: Rule = Rule {
    name: "section-type",
    group: Group::Container,
    severity: Severity::Error,
    versions: Versions::SINCE_2,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "sh_type is SHT_GNU_SFRAME in version 3, and in earlier versions if start fields \
                  are PC-relative",
        consequence: "GNU ld 2.46 and later ignore the section (\"unexpected SFrame section \
                      type\"): the output has no stack-trace data for this input.",
        remedy: "Set the type 0x6ffffff4, or let the assembler write the section.",
        source: "V2 errata 1, V3 1.1; observed: GNU ld 2.47",
        example: "a version 3 section of type SHT_PROGBITS",
    },
};

pub(super) fn check(file: &FileContext<'_>, report: &mut Reporter<'_>) {
    let Some(section) = file.section else { return };
    let header = section.header();
    let typed = header.version == Version::V3 || header.flags.pcrel();
    let sh_type = file.sframe.sh_type;
    if typed && sh_type != SHT_GNU_SFRAME && sh_type != SHT_NOBITS {
        report.elf_field(
            "sh_type",
            format_args!("{sh_type:#x}"),
            "0x6ffffff4 (SHT_GNU_SFRAME)",
            format_args!("the section's type is {sh_type:#x}, not SHT_GNU_SFRAME"),
        );
    }
}
