use crate::finding::FunctionId;
use crate::finding::reporter::Reporter;
use crate::page::{Abis, Group, Page, Rule, Severity, Versions};
use crate::section::FunctionField;
use crate::subject::TotalContext;
use crate::subject::extents::Overlap;

pub(super) static RULE: Rule = Rule {
    name: "rows-overlap",
    group: Group::Rows,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    about_tools: false,
    page: Page {
        summary: "the rows of different functions do not overlap",
        consequence: "One of the functions reads the other's rows, or its attributes, as its own. \
                      libsframe swaps shared bytes twice; readelf takes minutes over many \
                      functions that share one long block.",
        remedy: "Correct the offset or the number of the rows of one of the two functions.",
        source: "V3 2.3.1; observed: libsframe 2.47, readelf 2.47",
        example: "two functions whose rows start at the same offset",
    },
};

pub(super) fn check(total: &TotalContext<'_>, report: &mut Reporter<'_>) {
    let section = total.whole.section;
    for Overlap { before, first, count } in total.extents.overlapping_blocks() {
        let (Some(long), Some(entry)) = (section.entry(before.index), section.entry(first.index))
        else {
            continue;
        };
        if count > 1 {
            report.about(FunctionId::of(&long)).field(
                long.field(FunctionField::NumFres),
                long.function().map_or(0, |function| function.num_rows()),
                "fewer",
                format_args!(
                    "the rows of function #{} ({:#x}..{:#x} of the FRE sub-section) overlap those \
                     of {count} others",
                    before.index, before.start, before.end
                ),
            );
            continue;
        }
        report.about(FunctionId::of(&entry)).field(
            entry.field(FunctionField::FreOffset),
            format_args!("{:#x}", first.start),
            format_args!("at least {:#x}", before.end),
            format_args!(
                "the rows of function #{} ({:#x}..{:#x} of the FRE sub-section) overlap those \
                 of function #{} ({:#x}..{:#x})",
                first.index, first.start, first.end, before.index, before.start, before.end
            ),
        );
    }
}
