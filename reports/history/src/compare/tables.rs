//! The tables of rows of a finding, and merged tables of two scans.

use similar::{Algorithm, ChangeTag, capture_diff_slices};

use super::kept::{Item, Line};
use super::strings::{Id, Strings};
use crate::changes::{RowScan, TableLine};
use sframe_record::{PrintedFrame, Side};

/// The maximum number of rows that are kept; reports show 24.
const MAX_LINES: usize = 64;

/// The table of a finding in one scan.
pub(super) fn one(item: &Item, scan: RowScan, strings: &Strings) -> Vec<TableLine> {
    let lines = item.table.iter().take(MAX_LINES);
    lines.map(|line| table_line(line, item, scan, strings)).collect()
}

/// The merged tables of a finding in both scans: rows with equal values are merged, wherever they are.
pub(super) fn both(old: &Item, new: &Item, strings: &Strings) -> Vec<TableLine> {
    let frames = |item: &Item| -> Vec<(Side, PrintedFrame<Id>)> {
        item.table.iter().take(MAX_LINES).map(|line| (line.side, line.frame)).collect()
    };
    let (was, is) = (frames(old), frames(new));
    let mut lines = Vec::new();
    for operation in capture_diff_slices(Algorithm::Myers, &was, &is) {
        for change in operation.iter_changes(&was, &is) {
            let line = match (change.tag(), change.old_index(), change.new_index()) {
                (ChangeTag::Delete, Some(place), _) => {
                    old.table.get(place).map(|l| (l, old, RowScan::Old))
                }
                (ChangeTag::Insert, _, Some(place)) => {
                    new.table.get(place).map(|l| (l, new, RowScan::New))
                }
                (_, _, Some(place)) => new.table.get(place).map(|l| (l, new, RowScan::Both)),
                _ => None,
            };
            lines.extend(line.map(|(line, item, scan)| table_line(line, item, scan, strings)));
        }
    }
    lines
}

fn table_line(line: &Line, item: &Item, scan: RowScan, strings: &Strings) -> TableLine {
    let from_start = item.function.and_then(|start| line.start.checked_sub(start));
    TableLine {
        scan,
        side: line.side,
        start: format!("{:#x}", from_start.unwrap_or(line.start)),
        frame: line.frame.map(|id| strings.text(id).to_owned()),
    }
}
