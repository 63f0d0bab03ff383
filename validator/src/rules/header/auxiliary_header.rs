use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::field;
use crate::subject::SectionContext;

pub(super) static RULE: Rule = Rule {
    name: "auxiliary-header",
    group: Group::Header,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "there is no auxiliary header: no ABI defines one",
        consequence: "The kernel refuses the section; libsframe refuses it in the other byte \
                      order.",
        remedy: "Write 0.",
        source: "V3 2.2; observed: the kernel's patches, libsframe 2.47",
        example: "an auxiliary header of 4 bytes",
    },
};

pub(super) fn check(section: &SectionContext<'_>, report: &mut Reporter<'_>) {
    let length = section.header().auxhdr_len;
    if length != 0 && section.header().size() <= section.size() {
        report.field(
            field::AUXHDR_LEN,
            length,
            "0",
            format_args!("the header has {length} auxiliary bytes that no ABI defines"),
        );
    }
}
