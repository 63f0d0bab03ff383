use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::FileContext;

pub(super) static RULE: Rule = Rule {
    name: "section-duplicate",
    group: Group::Container,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    page: Page {
        summary: "a file has one SFrame section",
        consequence: "Readers use the first one and never see the others.",
        remedy: "Let one linker merge the sections; do not rename or add sections with objcopy.",
        source: "observed: libsframe's and LLVM's readers stop at the first section",
        example: "a shared object with .sframe twice",
    },
};

pub(super) fn check(file: &FileContext<'_>, report: &mut Reporter<'_>) {
    let first = file.elf.sframe_sections().next();
    if let Some(first) = first.filter(|first| first.index != file.sframe.index) {
        report.file(format_args!(
            "section {} is an SFrame section, but readers stop at the first one, section {}",
            file.sframe.index, first.index
        ));
    }
}
