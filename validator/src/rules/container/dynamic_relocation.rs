use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::FileContext;

pub(super) static RULE: Rule = Rule {
    name: "dynamic-relocation",
    group: Group::Container,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "no dynamic relocation applies to the section",
        consequence: "The dynamic linker overwrites a field at run time, or faults because the \
                      section is read-only. Every value in the section is position-independent.",
        remedy: "Make the linker resolve the section's PC-relative relocations itself.",
        source: "V3 2.3.1 (start offsets are relative to the section or the field)",
        example: "a shared object with R_X86_64_RELATIVE in .sframe",
    },
};

pub(super) fn check(file: &FileContext<'_>, report: &mut Reporter<'_>) {
    let addresses = file.addresses();
    let first = file.dynamic.partition_point(|&address| address < addresses.start);
    let found = file.dynamic.get(first).filter(|&&address| address < addresses.end);
    if let Some(&address) = found.filter(|_| file.section.is_some()) {
        let offset = address.saturating_sub(addresses.start);
        let end = offset.saturating_add(8).min(file.sframe.size);
        report.bytes(
            offset..end,
            format_args!("a dynamic relocation applies to address {address:#x} inside the section"),
        );
    }
}
