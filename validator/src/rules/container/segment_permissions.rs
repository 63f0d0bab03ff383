use super::sframe_segment;
use crate::elf::PF_R;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::FileContext;

pub(super) static RULE: Rule = Rule {
    name: "segment-permissions",
    group: Group::Container,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "PT_GNU_SFRAME is readable, and neither writable nor executable",
        consequence: "A loader that relies on p_flags maps the data wrongly, or refuses it.",
        remedy: "Make every input's .sframe read-only.",
        source: "observed: GNU ld and mold write R",
        example: "a shared object whose PT_GNU_SFRAME is RW",
    },
};

pub(super) fn check(file: &FileContext<'_>, report: &mut Reporter<'_>) {
    let Some(segment) = sframe_segment(file) else { return };
    if file.is_linked() && segment.flags != PF_R {
        report.elf_field(
            "p_flags",
            format_args!("{:#x}", segment.flags),
            "0x4 (R)",
            format_args!("PT_GNU_SFRAME has permissions other than read"),
        );
    }
}
