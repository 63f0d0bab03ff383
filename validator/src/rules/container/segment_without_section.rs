use crate::elf::SectionHeaders;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::FileContext;

pub(super) static RULE: Rule = Rule {
    name: "segment-without-section",
    group: Group::Container,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "a file with section headers and a PT_GNU_SFRAME segment has an SFrame section",
        consequence: "Tools that use section headers find no stack-trace data, although the \
                      program header promises some. If the section was removed, the program \
                      header leads to other bytes.",
        remedy: "Remove the program header with the section, or keep the section.",
        source: "observed: objcopy -R .sframe leaves the program header",
        example: "a shared object whose .sframe is renamed and of type SHT_PROGBITS",
    },
};

pub(super) fn check(file: &FileContext<'_>, report: &mut Reporter<'_>) {
    if file.sframe.is_segment() && file.elf.section_headers() == SectionHeaders::Listed {
        report.file(format_args!(
            "PT_GNU_SFRAME leads to {:#x}..{:#x}, but the file has no SFrame section",
            file.addresses().start,
            file.addresses().end
        ));
    }
}
