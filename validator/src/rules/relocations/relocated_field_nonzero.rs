use super::object_section;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::FunctionField;
use crate::subject::FileContext;

pub(super) static RULE: Rule = Rule {
    name: "relocated-field-nonzero",
    group: Group::Relocations,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "relocated start fields are stored as 0",
        consequence: "The relocation's own addend is used, so the stored value is lost. A reader \
                      that does not apply relocations mistakes it for an address.",
        remedy: "Store 0.",
        source: "observed: GNU as, LLVM and mold store 0",
        example: "an object whose start field holds 16",
    },
};

pub(super) fn check(file: &FileContext<'_>, report: &mut Reporter<'_>) {
    let Some(section) = object_section(file) else { return };
    for entry in section.entries() {
        if entry.start_field() != 0 {
            report.field(
                entry.field(FunctionField::Start),
                entry.start_field(),
                "0",
                format_args!("the relocated start field holds {}", entry.start_field()),
            );
        }
    }
}
