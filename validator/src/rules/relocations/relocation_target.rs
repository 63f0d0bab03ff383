use super::{effective, function_at, object_section};
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::FunctionField;
use crate::subject::FileContext;

pub(super) static RULE: Rule = Rule {
    name: "relocation-target",
    group: Group::Relocations,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "a start field leads to a place in an executable section of the object",
        consequence: "The rows describe data, or code of another file.",
        remedy: "Relocate against the text section's symbol, or a local label in it.",
        source: "observed: GNU as relocates against the section's symbol",
        example: "an object whose function is relocated against .data",
    },
};

pub(super) fn check(file: &FileContext<'_>, report: &mut Reporter<'_>) {
    let Some(section) = object_section(file) else { return };
    for (index, relocation) in effective(file) {
        let Some(entry) = function_at(section, relocation.offset) else { continue };
        let place = entry.field(FunctionField::Start);
        let Some(target) = relocation.target() else {
            report.field(
                place,
                format_args!("relocation {index}"),
                "a symbol in a section of the object",
                format_args!(
                    "relocation {index} is against a symbol that no section of the object \
                     defines"
                ),
            );
            continue;
        };
        let Some(code) = file.elf.section(target.section) else { continue };
        if !code.is_executable() {
            report.field(
                place,
                format_args!("section {}", target.section),
                "an executable section",
                format_args!(
                    "function #{} starts in section {}, which is not executable",
                    entry.index(),
                    target.section
                ),
            );
        } else if target.address > code.size {
            report.field(
                place,
                format_args!("{:#x}", target.address),
                format_args!("at most {:#x}", code.size),
                format_args!(
                    "function #{} starts at {:#x}, past the end {:#x} of section {}",
                    entry.index(),
                    target.address,
                    code.size,
                    target.section
                ),
            );
        }
    }
}
