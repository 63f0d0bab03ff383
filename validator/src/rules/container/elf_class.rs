use crate::elf::Class;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::FileContext;

pub(super) static RULE: Rule = Rule {
    name: "elf-class",
    group: Group::Container,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "SFrame is defined for 64-bit ELF files only",
        consequence: "Readers assume that addresses and saved registers have 8 bytes. In a 32-bit \
                      file (including x32 and ILP32), they load the wrong stack slots.",
        remedy: "Do not ask the assembler for SFrame when it builds for a 32-bit ABI.",
        source: "observed: GNU as refuses --gsframe for every 32-bit target",
        example: "an ELFCLASS32 object with a .sframe section",
    },
};

pub(super) fn check(file: &FileContext<'_>, report: &mut Reporter<'_>) {
    if file.elf.class() == Class::Elf32 {
        report.elf_field(
            "EI_CLASS",
            "1 (ELFCLASS32)",
            "2 (ELFCLASS64)",
            format_args!(
                "the file is a 32-bit ELF file, but SFrame is defined only for 64-bit \
                          files"
            ),
        );
    }
}
