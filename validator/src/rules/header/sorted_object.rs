use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::field;
use crate::subject::{FileKind, SectionContext};

pub(super) static RULE: Rule = Rule {
    name: "sorted-object",
    group: Group::Header,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: true,
    page: Page {
        summary: "the flag SFRAME_F_FDE_SORTED is clear in a relocatable object",
        consequence: "Before layout, no function has an address to sort by. A linker that copies \
                      the flag makes a false claim.",
        remedy: "Clear bit 0x1 in objects.",
        source: "observed: GNU as, LLVM and ld -r leave it clear",
        example: "flags 0x5 in an object",
    },
};

pub(super) fn check(section: &SectionContext<'_>, report: &mut Reporter<'_>) {
    let flags = section.header().flags;
    if section.kind == FileKind::Relocatable && flags.sorted() {
        report.field(
            field::FLAGS,
            format_args!("{:#04x}", flags.0),
            "bit 0x01 clear",
            format_args!("SFRAME_F_FDE_SORTED is set before functions have addresses"),
        );
    }
}
