//! The rows of all functions taken together: they fill the FRE sub-section, each byte once.

use super::context::{Check, FileKind, TotalContext};
use super::{Abis, Group, Rule, Severity, Versions};
use crate::check::extents::Overlap;
use crate::finding::FunctionId;
use crate::section::{FunctionEntry, FunctionField, field};

fn identify(entry: &FunctionEntry<'_>) -> FunctionId {
    FunctionId { index: entry.index(), start: entry.start().ok(), size: entry.size() }
}

fn blocks_overlap(total: &TotalContext<'_>) -> bool {
    total.extents.overlapping_blocks().next().is_some()
}

pub(super) static ROWS_OVERLAP: Rule = Rule {
    name: "rows-overlap",
    group: Group::Rows,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "the rows of different functions do not overlap",
    consequence: "One of the functions reads the other's rows, or its attributes, as its own. \
                  libsframe swaps shared bytes twice; readelf takes minutes over many functions \
                  that share one long block.",
    remedy: "Correct the rows' offset or the number of rows of one of the two.",
    source: "V3 2.3.1; observed: libsframe 2.47, readelf 2.47",
    example: "two functions whose rows start at the same offset",
    check: Check::Total(|total, report| {
        let section = total.whole.section;
        for Overlap { before, first, count } in total.extents.overlapping_blocks() {
            let (Some(long), Some(entry)) =
                (section.entry(before.index), section.entry(first.index))
            else {
                continue;
            };
            if count > 1 {
                report.about(identify(&long)).field(
                    long.field(FunctionField::NumFres),
                    long.function().map_or(0, |function| function.num_rows()),
                    "fewer",
                    format_args!(
                        "the rows of function #{} ({:#x}..{:#x} of the FRE sub-section) run over \
                         those of {count} others",
                        before.index, before.start, before.end
                    ),
                );
                continue;
            }
            report.about(identify(&entry)).field(
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
    }),
};

pub(super) static ROWS_UNUSED: Rule = Rule {
    name: "rows-unused",
    group: Group::Rows,
    severity: Severity::Warning,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "every byte of the FRE sub-section belongs to a function's rows",
    consequence: "Dead bytes, or the rows of a function whose number of rows is too small.",
    remedy: "Correct the number of rows of the function before the gap.",
    source: "V3 2.2 (\"tile the SFrame section\"); observed: no producer leaves gaps",
    example: "a section with 3 bytes behind its only function's rows, inside sfh_fre_len",
    check: Check::Total(|total, report| {
        // With rows unread or shared, what is left over follows from that.
        if !total.totals.complete || blocks_overlap(total) {
            return;
        }
        let header = total.whole.header();
        for (start, end) in total.extents.unused(header.fre_len) {
            let base = header.fre_start();
            report.bytes(
                base + u64::from(start)..base + u64::from(end),
                format_args!(
                    "bytes {start:#x}..{end:#x} of the FRE sub-section belong to no function"
                ),
            );
        }
    }),
};

pub(super) static ROW_COUNT_TOTAL: Rule = Rule {
    name: "row-count-total",
    group: Group::Rows,
    severity: Severity::Error,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "the header's number of rows is the sum of the functions'",
    consequence: "libsframe swaps that many rows in a section of the other byte order, too few or \
                  behind its end.",
    remedy: "Correct sfh_num_fres.",
    source: "V3 2.2; observed: libsframe 2.47",
    example: "a section of 1 row whose header says 2",
    check: Check::Total(|total, report| {
        let stored = total.whole.header().num_fres;
        // A gap or an overlap says that a function's count is wrong, not the header's.
        let tiled = !blocks_overlap(total)
            && total.extents.unused(total.whole.header().fre_len).next().is_none();
        // The absence of any row has a rule of its own up to version 2.
        let counted = total.totals.rows > 0 || stored > 0;
        if total.totals.complete && tiled && counted && u64::from(stored) != total.totals.rows {
            report.field(
                field::NUM_FRES,
                stored,
                total.totals.rows,
                format_args!(
                    "the header says {stored} rows, the functions have {}",
                    total.totals.rows
                ),
            );
        }
    }),
};

pub(super) static ROWS_ORDER_IN_OBJECT: Rule = Rule {
    name: "rows-order-in-object",
    group: Group::Rows,
    severity: Severity::Lint,
    versions: Versions::ALL,
    abis: Abis::ALL,
    summary: "in a relocatable object the rows are in the order of the functions",
    consequence: "None known; the producer is none of the known ones.",
    remedy: "None needed.",
    source: "observed: GNU as, LLVM and mold",
    example: "an object of 2 functions, the second one's rows first",
    check: Check::Total(|total, report| {
        if total.whole.kind != FileKind::Relocatable || blocks_overlap(total) {
            return;
        }
        let mut highest = 0;
        for block in &total.extents.blocks {
            if block.index < highest
                && let Some(entry) = total.whole.section.entry(block.index)
            {
                report.about(identify(&entry)).field(
                    entry.field(FunctionField::FreOffset),
                    format_args!("{:#x}", block.start),
                    format_args!("below those of function #{highest}"),
                    format_args!(
                        "the rows of function #{} stand behind those of function #{highest}",
                        block.index
                    ),
                );
            }
            highest = highest.max(block.index);
        }
    }),
};
