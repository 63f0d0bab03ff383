use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::FileContext;

pub(super) static RULE: Rule = Rule {
    name: "section-links",
    group: Group::Container,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "sh_entsize, sh_link and sh_info are 0",
        consequence: "None known; no producer uses these fields for SFrame.",
        remedy: "Leave them 0.",
        source: "observed: GNU as, ld, LLVM and mold write 0",
        example: "an object whose .sframe has sh_entsize 20",
    },
};

pub(super) fn check(file: &FileContext<'_>, report: &mut Reporter<'_>) {
    let fields = [
        ("sh_entsize", file.sframe.entry_size),
        ("sh_link", u64::from(file.sframe.link)),
        ("sh_info", u64::from(file.sframe.info)),
    ];
    for (name, value) in fields {
        if value != 0 {
            report.elf_field(
                name,
                value,
                "0",
                format_args!("{name} is {value}, which has no meaning for SFrame"),
            );
        }
    }
}
