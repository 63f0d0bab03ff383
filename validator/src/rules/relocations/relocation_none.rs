use super::all;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::FileContext;

pub(super) static RULE: Rule = Rule {
    name: "relocation-none",
    group: Group::Relocations,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "no relocation is R_*_NONE",
        consequence: "The object is the output of ld -r, which leaves such entries for functions \
                      that it discarded. For tools that count them, the numbers of relocations \
                      and functions differ.",
        remedy: "None needed.",
        source: "observed: ld -r of binutils 2.47 (binutils PR 33401)",
        example: "an object with an R_X86_64_NONE besides its function's relocation",
    },
};

pub(super) fn check(file: &FileContext<'_>, report: &mut Reporter<'_>) {
    let count = all(file).iter().filter(|relocation| relocation.is_none()).count();
    if file.is_relocatable() && count > 0 {
        report.file(format_args!(
            "{count} of the section's {} relocations are R_*_NONE",
            all(file).len()
        ));
    }
}
