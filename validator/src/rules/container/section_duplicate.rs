use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::FileContext;

pub(super) static RULE: Rule = Rule {
    name: "section-duplicate",
    group: Group::Container,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "a file has one SFrame section",
        consequence: "Readers differ: objdump reads the first one alone, readelf and llvm-readobj print each, and PT_GNU_SFRAME leads to one of them.",
        remedy: "Let one linker merge the sections; do not rename or add sections with objcopy.",
        source: "observed: objdump, readelf (2.40, 2.44, 2.47.50) and llvm-readobj 23 on files of gold with two sections",
        example: "a shared object with .sframe twice",
    },
};

pub(super) fn check(file: &FileContext<'_>, report: &mut Reporter<'_>) {
    let first = file.elf.sframe_sections().next();
    if let Some(first) = first.filter(|first| first.index != file.sframe.index) {
        report.file(format_args!(
            "section {} is a second SFrame section, and some readers stop at the first one, section {}",
            file.sframe.index, first.index
        ));
    }
}
