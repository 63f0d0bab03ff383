use crate::abi::Endian;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::field;
use crate::subject::SectionContext;

pub(super) static RULE: Rule = Rule {
    name: "abi-endian",
    group: Group::Header,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "a section without a file has the byte order of its ABI",
        consequence: "The magic number and the ABI identifier contradict each other, so that one of \
                      them is wrong: readers refuse the section, or read it for another machine. In a \
                      file, the rules `foreign-endian` and `machine-abi` compare both with the file.",
        remedy: "Write the ABI identifier of the machine: 3 (AMD64) and 2 (AArch64) in little-endian \
                 sections, 1 (AArch64) and 4 (s390x) in big-endian ones. --machine and --endian \
                 override what the header says.",
        source: "V3 2.1.1, 2.2.1",
        example: "a little-endian section with ABI 1, which is big-endian AArch64",
    },
};

pub(super) fn check(whole: &SectionContext<'_>, report: &mut Reporter<'_>) {
    let section = whole.section;
    let placement = section.placement();
    // In a file, the file's byte order is known. On the command line, the user knows better than the header.
    if placement.endian.is_some() || placement.abi.is_some() {
        return;
    }
    let Ok(abi) = section.abi() else { return };
    if abi.endian() != section.endian() {
        let order = |endian| match endian {
            Endian::Little => "little-endian",
            Endian::Big => "big-endian",
        };
        report.field(
            field::ABI_ARCH,
            format_args!("{} ({abi})", abi.id()),
            format_args!("the ABI of a {} machine", order(section.endian())),
            format_args!(
                "the section is {}, but its ABI is {}",
                order(section.endian()),
                order(abi.endian())
            ),
        );
    }
}
