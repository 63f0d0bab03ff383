use crate::elf::{PF_X, PT_LOAD};
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::FileContext;

pub(super) static RULE: Rule = Rule {
    name: "section-in-code-segment",
    group: Group::Container,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the PT_LOAD segment that contains the section is not executable",
        consequence: "Stack-trace data is mapped executable. Legitimate with -z noseparate-code.",
        remedy: "Link with -z separate-code.",
        source: "observed: the kernel's SFrame patches look at the mapping's protection",
        example: "a shared object with one PT_LOAD, readable and executable",
    },
};

pub(super) fn check(file: &FileContext<'_>, report: &mut Reporter<'_>) {
    let (start, size) = (file.sframe.address, file.sframe.size);
    let executable = file.elf.segments().iter().find(|segment| {
        segment.p_type == PT_LOAD && segment.flags & PF_X != 0 && segment.contains(start, size)
    });
    if let Some(segment) = executable.filter(|_| file.is_linked() && size > 0) {
        report.elf_field(
            "p_flags",
            format_args!("{:#x}", segment.flags),
            "0x4 (R)",
            format_args!("the PT_LOAD segment that contains the section is executable"),
        );
    }
}
