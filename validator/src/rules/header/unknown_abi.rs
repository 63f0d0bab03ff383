use crate::abi::Abi;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::{Version, field};
use crate::subject::SectionContext;

pub(super) static RULE: Rule = Rule {
    name: "unknown-abi",
    group: Group::Header,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the ABI identifier is one that the version defines",
        consequence: "The meaning of rows depends on the ABI. GNU objdump aborts on flexible rows \
                      of an unknown ABI.",
        remedy: "Write 1 or 2 (AArch64), 3 (AMD64), or since version 2 errata 1, 4 (s390x).",
        source: "V3 2.2.1; V1 1.2.1",
        example: "ABI 5",
    },
};

pub(super) fn check(section: &SectionContext<'_>, report: &mut Reporter<'_>) {
    let id = section.header().abi_arch;
    let version = section.header().version;
    let known = match Abi::from_id(id) {
        Some(Abi::S390x) => version > Version::V1,
        abi => abi.is_some(),
    };
    if !known && section.section.placement().abi.is_none() {
        let last = if version > Version::V1 { 4 } else { 3 };
        report.field(
            field::ABI_ARCH,
            id,
            format_args!("1 to {last}"),
            format_args!("version {} does not define ABI {id}", version.number()),
        );
    }
}
