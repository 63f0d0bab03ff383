use crate::elf::{PF_R, PT_LOAD, SHF_ALLOC, SHT_NOBITS};
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::FileContext;

pub(super) static RULE: Rule = Rule {
    name: "section-outside-load",
    group: Group::Container,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "in a linked file, the section is inside a readable PT_LOAD segment",
        consequence: "The section, or a part of it, is not in memory at run time.",
        remedy: "Keep .sframe among the read-only data in the linker script.",
        source: "V3 1.1; observed: the kernel's SFrame patches check the section's memory mapping",
        example: "a shared object in which no PT_LOAD contains .sframe",
    },
};

pub(super) fn check(file: &FileContext<'_>, report: &mut Reporter<'_>) {
    let (start, size) = (file.sframe.address, file.sframe.size);
    let loaded = file.elf.segments().iter().any(|segment| {
        segment.p_type == PT_LOAD && segment.flags & PF_R != 0 && segment.loads(file.sframe)
    });
    if file.is_linked()
        && file.sframe.flags & SHF_ALLOC != 0
        && file.sframe.sh_type != SHT_NOBITS
        && size > 0
        && !loaded
    {
        report.elf_field(
            "sh_addr",
            format_args!("{start:#x}..{:#x}", file.addresses().end),
            "inside a readable PT_LOAD",
            format_args!("no readable PT_LOAD segment loads the whole section from the file"),
        );
    }
}
