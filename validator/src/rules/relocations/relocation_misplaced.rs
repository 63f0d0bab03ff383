use super::{misplaced, object_section};
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::FileContext;

pub(super) static RULE: Rule = Rule {
    name: "relocation-misplaced",
    group: Group::Relocations,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "relocations apply only to start fields",
        consequence: "The linker overwrites a field that does not contain an address.",
        remedy: "Relocate only start fields; the rest of the section does not depend on \
                 addresses.",
        source: "V3 2.3.1; observed: GNU as, LLVM",
        example: "an object with a second relocation, at its function's size",
    },
};

pub(super) fn check(file: &FileContext<'_>, report: &mut Reporter<'_>) {
    let Some(section) = object_section(file) else { return };
    for (index, relocation) in misplaced(file, section) {
        let size = section.data().len() as u64;
        let start = relocation.offset.min(size);
        report.bytes(
            start..start.saturating_add(1).min(size),
            format_args!(
                "relocation {index} applies to offset {:#x}, which is not a start field",
                relocation.offset
            ),
        );
    }
}
