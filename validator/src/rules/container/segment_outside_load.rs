use super::sframe_segment;
use crate::elf::PT_LOAD;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::FileContext;

pub(super) static RULE: Rule = Rule {
    name: "segment-outside-load",
    group: Group::Container,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "PT_GNU_SFRAME is inside a PT_LOAD segment",
        consequence: "The end of the range in the program header is not mapped, so reading it \
                      faults.",
        remedy: "Correct the program headers; objcopy or strip may correct the size.",
        source: "V3 1.1; observed: the kernel's patches check the mapping of the whole segment",
        example: "a shared object whose PT_GNU_SFRAME ends 4096 bytes past its PT_LOAD",
    },
};

pub(super) fn check(file: &FileContext<'_>, report: &mut Reporter<'_>) {
    let Some(segment) = sframe_segment(file) else { return };
    let loaded =
        file.elf.segments().iter().any(|load| {
            load.p_type == PT_LOAD && load.contains(segment.address, segment.memory_size)
        });
    let section_loaded =
        file.elf.segments().iter().any(|load| {
            load.p_type == PT_LOAD && load.contains(file.sframe.address, file.sframe.size)
        });
    let here = segment.address == file.sframe.address;
    if file.is_linked() && here && section_loaded && !loaded {
        report.elf_field(
            "p_memsz",
            format_args!("{:#x}", segment.memory_size),
            "an end inside a PT_LOAD",
            format_args!(
                "PT_GNU_SFRAME {:#x}..{:#x} is not inside a PT_LOAD segment",
                segment.address,
                segment.address.saturating_add(segment.memory_size)
            ),
        );
    }
}
