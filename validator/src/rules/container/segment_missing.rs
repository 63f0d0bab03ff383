use crate::elf::PT_GNU_SFRAME;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::FileContext;

pub(super) static RULE: Rule = Rule {
    name: "segment-missing",
    group: Group::Container,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: true,
    page: Page {
        summary: "a linked file with an SFrame section has a PT_GNU_SFRAME segment",
        consequence: "The dynamic linker, glibc's unwinder and profilers use this program header \
                      to find the section, so they do not find it.",
        remedy: "Link with GNU ld 2.40 or later, or mold; lld 23 does not write the segment. \
                 sframe-check repair adds it to a file that is linked already.",
        source: "V3 1.1; observed: lld 23 leaves it out",
        example: "a shared object with .sframe and without PT_GNU_SFRAME",
    },
};

pub(super) fn check(file: &FileContext<'_>, report: &mut Reporter<'_>) {
    let segments = file.elf.segments();
    let none = segments.iter().all(|segment| segment.p_type != PT_GNU_SFRAME);
    if file.is_linked() && file.sframe.size > 0 && !segments.is_empty() && none {
        report.file(format_args!(
            "the file has an SFrame section, but no PT_GNU_SFRAME segment that leads to it"
        ));
    }
}
