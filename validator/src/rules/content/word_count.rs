use super::WordCount;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::Version;
use crate::subject::RowContext;

pub(super) static RULE: Rule = Rule {
    name: "word-count",
    group: Group::Content,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "a default row has a number of data words that its version and ABI define",
        consequence: "libsframe copies the words into a buffer for 3 (V3: 6) before it checks \
                      their number, so it overwrites memory or aborts. The kernel refuses the \
                      section.",
        remedy: "Write the CFA's offset, RA's unless it is fixed, and FP's.",
        source: "V3 2.4.1, 3.1; observed: libsframe 2.44 and 2.47, the kernel's patches",
        example: "an AMD64 row with 3 data words",
    },
};

pub(super) fn check(row: &RowContext<'_>, report: &mut Reporter<'_>) {
    let count = row.row.info.word_count();
    let most = row.layout.max_default_words();
    // Errata 2 of version 2 defined the meaning of a row without words.
    let least = u8::from(row.layout.version == Version::V1);
    if !row.layout.flexible && !(least..=most).contains(&count) {
        report.field(
            row.info(),
            WordCount(count),
            format_args!("{least} to {most}"),
            format_args!(
                "row {} has {}, but on {} a row has {least} to {most}",
                row.index,
                WordCount(count),
                row.layout.abi
            ),
        );
    }
}
