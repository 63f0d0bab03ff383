use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::subject::RowContext;

pub(super) static RULE: Rule = Rule {
    name: "word-size-wide",
    group: Group::Content,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the data words are the narrowest that hold the row's values",
        consequence: "The row takes up more bytes than necessary.",
        remedy: "Choose 1, 2 or 4 bytes by the largest value.",
        source: "observed: GNU as and LLVM choose the narrowest",
        example: "a row whose only word 8 takes 4 bytes",
    },
};

pub(super) fn check(row: &RowContext<'_>, report: &mut Reporter<'_>) {
    let words = &row.row.words;
    // In a flexible row, the first word of a pair is unsigned. The padding word fits any size.
    let control = |index: usize| match (row.layout.flexible, words.count()) {
        (false, _) => false,
        (true, 5) => matches!(index, 0 | 2 | 3),
        (true, _) => index.is_multiple_of(2),
    };
    let width = |index: usize| {
        let (byte, half) = if control(index) {
            let word = words.unsigned(index).unwrap_or(0);
            (u8::try_from(word).is_ok(), u16::try_from(word).is_ok())
        } else {
            let word = words.signed(index).unwrap_or(0);
            (i8::try_from(word).is_ok(), i16::try_from(word).is_ok())
        };
        if byte {
            1
        } else if half {
            2
        } else {
            4
        }
    };
    let needed = (0..words.count()).map(width).max();
    if let Some(needed) = needed.filter(|&needed| needed < words.size()) {
        report.field(
            row.info(),
            format_args!("{} bytes per word", words.size()),
            format_args!("{needed}"),
            format_args!(
                "row {}'s data words have {} bytes each, but {needed} would suffice",
                row.index,
                words.size()
            ),
        );
    }
}
