use super::{effective, function_at, object_section, without_addend};
use crate::elf::{EM_AARCH64, EM_S390, EM_X86_64};
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::{FunctionField, Version};
use crate::subject::FileContext;

pub(super) static RULE: Rule = Rule {
    name: "relocation-type",
    group: Group::Relocations,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "relocations of start fields have the version's PC-relative type and an addend",
        consequence: "The linker writes an absolute address, or too few bytes, into the field.",
        remedy: "Use R_X86_64_PC32, R_AARCH64_PREL32 or R_390_PC32 up to version 2, and \
                 R_X86_64_PC64, R_AARCH64_PREL64 or R_390_PC64 in version 3.",
        source: "V3 2.3.1 (64-bit start offsets); observed: GNU as, LLVM",
        example: "a version 2 object whose function is relocated with R_X86_64_64",
    },
};

pub(super) fn check(file: &FileContext<'_>, report: &mut Reporter<'_>) {
    let Some(section) = object_section(file) else { return };
    let Some((wanted, name)) = start_type(file.elf.machine(), section.header().version) else {
        return;
    };
    for (index, relocation) in effective(file) {
        let Some(entry) = function_at(section, relocation.offset) else { continue };
        if relocation.kind != wanted {
            report.field(
                entry.field(FunctionField::Start),
                format_args!("type {}", relocation.kind),
                format_args!("type {wanted} ({name})"),
                format_args!(
                    "relocation {index} has type {}, but start fields need {name}",
                    relocation.kind
                ),
            );
        }
    }
    if without_addend(file) > 0 {
        report.elf_field(
            "sh_type",
            "9 (SHT_REL)",
            "4 (SHT_RELA)",
            format_args!("{} relocations have no addend (SHT_REL)", without_addend(file)),
        );
    }
}

/// The relocation type for start fields: its number and name.
fn start_type(machine: u16, version: Version) -> Option<(u32, &'static str)> {
    Some(match (machine, version) {
        (EM_X86_64, Version::V3) => (24, "R_X86_64_PC64"),
        (EM_X86_64, _) => (2, "R_X86_64_PC32"),
        (EM_AARCH64, Version::V3) => (260, "R_AARCH64_PREL64"),
        (EM_AARCH64, _) => (261, "R_AARCH64_PREL32"),
        (EM_S390, Version::V3) => (23, "R_390_PC64"),
        (EM_S390, _) => (5, "R_390_PC32"),
        _ => return None,
    })
}
