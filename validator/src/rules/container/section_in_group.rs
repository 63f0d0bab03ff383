use crate::elf::SHF_GROUP;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::FileContext;

pub(super) static RULE: Rule = Rule {
    name: "section-in-group",
    group: Group::Container,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the section of an object is not a member of a section group",
        consequence: "When the linker discards the group, the entries of functions outside it are \
                      lost as well.",
        remedy: "Write one .sframe section per object, outside any COMDAT group.",
        source: "observed: GNU as and LLVM write one section per object, outside of groups",
        example: "an object whose .sframe has the flag SHF_GROUP",
    },
};

pub(super) fn check(file: &FileContext<'_>, report: &mut Reporter<'_>) {
    if file.is_relocatable() && file.sframe.flags & SHF_GROUP != 0 {
        report.elf_field(
            "sh_flags",
            format_args!("{:#x}", file.sframe.flags),
            "0x2 (SHF_ALLOC)",
            format_args!("the section is a member of a section group: SHF_GROUP is set"),
        );
    }
}
