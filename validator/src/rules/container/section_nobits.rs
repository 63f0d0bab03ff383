use crate::elf::SHT_NOBITS;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::FileContext;

pub(super) static RULE: Rule = Rule {
    name: "section-nobits",
    group: Group::Container,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the section has bytes in the file, unless the code has none either",
        consequence: "The stack-trace data is gone, but the headers still promise it.",
        remedy: "Keep the section's contents when the file is stripped.",
        source: "observed: objcopy --only-keep-debug makes .sframe SHT_NOBITS, and the code as \
                 well",
        example: "a shared object with code, and .sframe of type SHT_NOBITS",
    },
};

pub(super) fn check(file: &FileContext<'_>, report: &mut Reporter<'_>) {
    let has_code = file.elf.code_sections().next().is_some();
    if file.sframe.sh_type == SHT_NOBITS && file.sframe.size > 0 && has_code {
        report.elf_field(
            "sh_type",
            "8 (SHT_NOBITS)",
            "0x6ffffff4 (SHT_GNU_SFRAME)",
            format_args!("the section has no bytes in the file, although the code has"),
        );
    }
}
