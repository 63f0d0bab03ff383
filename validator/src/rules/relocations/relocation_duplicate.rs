use super::{effective, function_at, object_section};
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::FunctionField;
use crate::subject::FileContext;

pub(super) static RULE: Rule = Rule {
    name: "relocation-duplicate",
    group: Group::Relocations,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "a start field has one relocation",
        consequence: "Linkers apply the last one or add them up; llvm-readobj warns.",
        remedy: "Emit one relocation for each function.",
        source: "observed: llvm-readobj 23",
        example: "an object whose function has two relocations",
    },
};

pub(super) fn check(file: &FileContext<'_>, report: &mut Reporter<'_>) {
    let Some(section) = object_section(file) else { return };
    let mut offsets: alloc::vec::Vec<u64> = effective(file).map(|(_, r)| r.offset).collect();
    offsets.sort_unstable();
    let mut last_reported = None;
    for pair in offsets.windows(2) {
        let [first, second] = pair else { continue };
        if first != second || last_reported == Some(*first) {
            continue;
        }
        last_reported = Some(*first);
        let Some(entry) = function_at(section, *first) else { continue };
        report.field(
            entry.field(FunctionField::Start),
            "more than one relocation",
            "one relocation",
            format_args!("more than one relocation applies to the field at {first:#x}"),
        );
    }
}
