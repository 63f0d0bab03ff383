use super::sframe_segment;
use crate::elf::PT_GNU_SFRAME;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::FileContext;

pub(super) static RULE: Rule = Rule {
    name: "segment-duplicate",
    group: Group::Container,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "a file has at most one PT_GNU_SFRAME segment",
        consequence: "Some readers use the first one, others the last.",
        remedy: "Write one program header for the one section.",
        source: "observed: every linker writes one",
        example: "a shared object with PT_GNU_SFRAME twice",
    },
};

pub(super) fn check(file: &FileContext<'_>, report: &mut Reporter<'_>) {
    let segments = file.elf.segments().iter();
    let count = segments.filter(|segment| segment.p_type == PT_GNU_SFRAME).count();
    if count > 1 && sframe_segment(file).is_some() {
        report.file(format_args!("the file has {count} PT_GNU_SFRAME segments instead of one"));
    }
}
