use super::{misplaced, object_section, without_addend};
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::{FunctionField, Starts};
use crate::subject::FileContext;

pub(super) static RULE: Rule = Rule {
    name: "relocation-missing",
    group: Group::Relocations,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the start field of each function has a relocation",
        consequence: "The linker cannot tell which function is meant; GNU ld fails an assertion.",
        remedy: "Emit one PC-relative relocation for each function.",
        source: "observed: GNU as writes one for each; GNU ld and mold pair functions with \
                 relocations",
        example: "an object whose only function has no relocation",
    },
};

pub(super) fn check(file: &FileContext<'_>, report: &mut Reporter<'_>) {
    let Some(section) = object_section(file) else { return };
    let Starts::Relocated(starts) = section.placement().starts else { return };
    // A separate rule covers relocations without an addend.
    if without_addend(file) > 0 {
        return;
    }
    if starts.is_empty() && section.entry_count() > 0 {
        report.file(format_args!(
            "the section has no relocations, so the places of its {} functions are lost",
            section.entry_count()
        ));
        return;
    }
    // Relocations in wrong places would be the cause, and a separate rule covers them.
    if misplaced(file, section).next().is_some() {
        return;
    }
    for entry in section.entries() {
        let place = entry.field(FunctionField::Start);
        if starts.binary_search_by_key(&place.offset, |start| start.field_offset).is_err() {
            report.field(
                place,
                entry.start_field(),
                "a relocated field",
                format_args!("no relocation applies to function #{}'s start", entry.index()),
            );
        }
    }
}
