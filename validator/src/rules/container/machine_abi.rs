use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::field;
use crate::subject::FileContext;

pub(super) static RULE: Rule = Rule {
    name: "machine-abi",
    group: Group::Container,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the header's ABI is that of the ELF file's machine and byte order",
        consequence: "The ABI determines which registers and how many data words a row has. With \
                      the wrong ABI, every frame is wrong. GNU ld and mold reject such an input.",
        remedy: "Assemble for the machine the file is linked for; do not copy .sframe between \
                 files.",
        source: "V3 2.2.1; observed: GNU ld 2.40 to 2.47, mold 3.0",
        example: "an x86-64 file whose header says AArch64",
    },
};

pub(super) fn check(file: &FileContext<'_>, report: &mut Reporter<'_>) {
    let Some(section) = file.section else { return };
    let Ok(abi) = section.abi() else { return };
    match file.elf.abi() {
        Some(expected) if expected == abi => {}
        Some(expected) => report.field(
            field::ABI_ARCH,
            format_args!("{} ({abi})", abi.id()),
            format_args!("{} ({expected})", expected.id()),
            format_args!("the header is for {abi}, but the file is for {expected}"),
        ),
        None => report.field(
            field::ABI_ARCH,
            format_args!("{} ({abi})", abi.id()),
            "the file's machine",
            format_args!(
                "the header is for {abi}, but the file is for e_machine {}, for which SFrame is \
                 not defined",
                file.elf.machine()
            ),
        ),
    }
}
