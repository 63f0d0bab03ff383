use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::FileContext;

pub(super) static RULE: Rule = Rule {
    name: "code-without-section",
    group: Group::Container,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "each executable segment has a section, if there are section headers",
        consequence: "A program has added code after the link: for a patch, an instrumentation, or to \
                      replace other code. The section was made before, and has no rows for it. \
                      Stack traces through it end.",
        remedy: "Make the section anew where the added code has CFI (`sframe-check synthesize \
                 --replace`), or add SFrame before the file is changed.",
        source: "observed: linkers put all code into sections; programs that patch linked files \
                 add segments alone",
        example: "a shared object with a second executable segment",
    },
};

pub(super) fn check(file: &FileContext<'_>, report: &mut Reporter<'_>) {
    // It is a property of the file, and reported once.
    let first = file.elf.sframe_sections().next();
    if first.is_none_or(|first| first.index != file.sframe.index) {
        return;
    }
    let segments = file.elf.code_without_sections();
    let Some(first) = segments.first() else { return };
    let bytes = segments.iter().map(|segment| segment.file_size).fold(0, u64::saturating_add);
    report.file(format_args!(
        "{bytes:#x} bytes in executable segments have no section, the first at {:#x}: a program has \
         added code after the link",
        first.address
    ));
}
