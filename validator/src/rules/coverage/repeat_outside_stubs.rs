use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::{FunctionEntry, FunctionField};
use crate::subject::{FileKind, TotalContext};

pub(super) static RULE: Rule = Rule {
    name: "repeat-outside-stubs",
    group: Group::Coverage,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "functions whose rows repeat are the linker's stubs",
        consequence: "In ordinary code, the rows of the first block are applied to all others.",
        remedy: "Check the PC type in the function's info byte.",
        source: "V3 2.3.3.1; observed: GNU ld writes such functions only for .plt and similar \
                 sections",
        example: "a shared object with a function of PC type MASK in .text",
    },
};

pub(super) fn check(total: &TotalContext<'_>, report: &mut Reporter<'_>) {
    let linked = total.whole.kind == FileKind::Linked;
    let Some(facts) = total.facts.filter(|_| linked) else { return };
    let section = total.whole.section;
    for extent in &total.extents.code {
        let function = section.entry(extent.index).map(FunctionEntry::function);
        let Some(Ok(function)) = function else { continue };
        let info = function.attributes().info;
        if info.is_pc_mask() && !facts.in_stubs(extent.start, extent.size) {
            report.field(
                function.entry().field(FunctionField::Info),
                format_args!("{:#04x}", info.0),
                "bit 0x10 clear",
                format_args!(
                    "the rows of function #{} repeat, but it is not in a stub section",
                    extent.index
                ),
            );
        }
    }
}
