use super::{effective, function_at, object_section};
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::FunctionField;
use crate::subject::FileContext;

pub(super) static RULE: Rule = Rule {
    name: "relocation-order",
    group: Group::Relocations,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "relocations are in the order of the functions",
        consequence: "GNU ld pairs functions with relocations by their order, not by their \
                      offset. It keeps the rows of a function that it discards, and loses others.",
        remedy: "Sort the relocations by offset.",
        source: "observed: GNU ld 2.47; GNU as and LLVM write them in order",
        example: "an object of 2 functions whose relocations are swapped",
    },
};

pub(super) fn check(file: &FileContext<'_>, report: &mut Reporter<'_>) {
    let Some(section) = object_section(file) else { return };
    let mut highest = 0;
    for (index, relocation) in effective(file) {
        let Some(entry) = function_at(section, relocation.offset) else { continue };
        if relocation.offset < highest {
            report.field(
                entry.field(FunctionField::Start),
                format_args!("relocation {index}"),
                "relocations in ascending order",
                format_args!(
                    "relocation {index}, for the field at {:#x}, follows the one for the field at \
                     {highest:#x}",
                    relocation.offset
                ),
            );
        }
        highest = highest.max(relocation.offset);
    }
}
