use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::rules::concatenation::concatenated_at;
use crate::section::PREAMBLE_SIZE;
use crate::subject::SectionContext;

pub(super) static RULE: Rule = Rule {
    name: "concatenated-section",
    group: Group::Tiling,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the section does not contain another SFrame section after its own content",
        consequence: "Readers see only the functions of the first input. All others have lost \
                      their stack-trace data, and their start fields count from wrong places.",
        remedy: "Link with a linker that merges SFrame sections: GNU ld or mold.",
        source: "observed: lld 23 and gold append input sections as they are",
        example: "a shared object in which one section's bytes follow another's",
    },
};

pub(super) fn check(section: &SectionContext<'_>, report: &mut Reporter<'_>) {
    let Some(at) = concatenated_at(section.section) else { return };
    report.bytes(
        at..at + PREAMBLE_SIZE,
        format_args!(
            "another SFrame section starts at {at:#x}, after the content of this one: a \
             linker has appended its inputs' sections instead of merging them"
        ),
    );
}
