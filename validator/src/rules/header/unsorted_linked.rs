use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::rules::concatenation::concatenated_at;
use crate::section::field;
use crate::subject::{FileKind, SectionContext};

pub(super) static RULE: Rule = Rule {
    name: "unsorted-linked",
    group: Group::Header,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the flag SFRAME_F_FDE_SORTED is set in a linked file",
        consequence: "glibc and libsframe refuse to look up PCs without it. In a section without a file, \
                      the rule needs --raw --linked.",
        remedy: "Link with a linker that merges SFrame sections: GNU ld or mold.",
        source: "V3 2.1.3, 2.3.1; observed: lld 23 and gold append input sections unsorted",
        example: "flags 0x4 in a shared object",
    },
};

pub(super) fn check(section: &SectionContext<'_>, report: &mut Reporter<'_>) {
    let flags = section.header().flags;
    // Appended sections are unsorted as well, but this follows from the defect that another rule reports.
    let appended = concatenated_at(section.section).is_some();
    if section.kind == FileKind::Linked && !flags.sorted() && !appended {
        report.field(
            field::FLAGS,
            format_args!("{:#04x}", flags.0),
            "bit 0x01 set",
            format_args!("SFRAME_F_FDE_SORTED is clear in a linked file"),
        );
    }
}
