use crate::elf::SectionHeaders;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::FileContext;

pub(super) static RULE: Rule = Rule {
    name: "section-headers-unusable",
    group: Group::Container,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "section headers can be read, have names, and describe the bytes that segments load",
        consequence: "Loaders and unwinders use program headers, and see no difference. Debuggers and \
                      objdump find nothing, or other bytes. Here, too, the program headers count: what \
                      only section headers say, such as where code ends, is not known.",
        remedy: "Copy the file again if its end is missing. Otherwise remove the section headers: \
                 objcopy --strip-section-headers (binutils 2.41), llvm-objcopy --strip-sections.",
        source: "gABI, \"ELF Header\" and \"Program Header\"",
        example: "a shared object whose e_shoff leads out of the file",
    },
};

pub(super) fn check(file: &FileContext<'_>, report: &mut Reporter<'_>) {
    let first = file.elf.sframe_sections().next();
    if first.is_none_or(|first| first.index != file.sframe.index) {
        return;
    }
    let why = match file.elf.section_headers() {
        SectionHeaders::Listed | SectionHeaders::Absent => return,
        SectionHeaders::Unreadable => "the section headers cannot be read",
        SectionHeaders::Unnamed => "no section has a name",
        SectionHeaders::Contradicted => {
            "sections of code, or .eh_frame, are not where segments load them"
        }
    };
    report.file(format_args!("{why}; sections are found by the program headers"));
}
