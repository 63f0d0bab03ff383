//! Merges two tables of rows: finds lines in both tables, and lines in only one.

use sframe_record::{Address, PrintedFrame, Side, TableLine, Text};
use sframe_validator::Abi;
use sframe_validator::unwind::Row;
use similar::{Algorithm, ChangeTag, capture_diff_slices};

/// The number of common lines that are shown before and after lines that differ.
const CONTEXT: usize = 2;
/// The maximum number of lines that are shown.
const MAX_LINES: usize = 24;

/// The first PC of a line, and the frame.
type Line = (Address, PrintedFrame<Text<'static>>);

/// The part of two tables around a difference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tables {
    /// The lines by PC; those of the first table come first.
    pub lines: Vec<TableLine<'static>>,
    /// Whether there are more lines.
    pub cut: bool,
}

impl Tables {
    /// Merges two tables, whose names are `sides`, and keeps the lines around the PCs `[start, end)`. A row is split
    /// where the other table starts a new row, so that every line can be compared with one of the other table.
    #[must_use]
    pub fn around(
        abi: Abi,
        (first, second): (&[Row], &[Row]),
        sides: (Side, Side),
        start: u64,
        end: u64,
    ) -> Tables {
        let (low, high) = surroundings(&[first, second], start, end);
        let (first, second) = (within(first, low, high), within(second, low, high));
        let mut cuts: Vec<u64> = first.iter().chain(second).map(|row| row.start).collect();
        cuts.sort_unstable();
        cuts.dedup();
        let (first, second) = (split(abi, first, &cuts), split(abi, second, &cuts));
        let mut lines = Vec::new();
        for operation in capture_diff_slices(Algorithm::Myers, &first, &second) {
            for change in operation.iter_changes(&first, &second) {
                let side = match change.tag() {
                    ChangeTag::Equal => Side::Both,
                    ChangeTag::Delete => sides.0,
                    ChangeTag::Insert => sides.1,
                };
                let (start, frame) = change.value();
                lines.push(TableLine { side, start, frame });
            }
        }
        lines.sort_by_key(|line| (line.start, line.side));
        let cut = lines.len() > MAX_LINES;
        lines.truncate(MAX_LINES);
        Tables { lines, cut }
    }
}

/// The PCs `[start, end)`, extended by a few rows of both tables on each side.
fn surroundings(tables: &[&[Row]], start: u64, end: u64) -> (u64, u64) {
    let (mut low, mut high) = (start, end);
    for rows in tables {
        let from = rows.partition_point(|row| row.end <= start).saturating_sub(CONTEXT);
        let to = rows.partition_point(|row| row.start < end) + CONTEXT;
        low = low.min(rows.get(from).map_or(start, |row| row.start));
        high = high.max(rows.get(..to).unwrap_or(rows).last().map_or(end, |row| row.end));
    }
    (low, high)
}

/// The rows that start in `[low, high)`, up to the maximum that is shown.
fn within(rows: &[Row], low: u64, high: u64) -> &[Row] {
    let from = rows.partition_point(|row| row.start < low);
    let to = rows.partition_point(|row| row.start < high);
    rows.get(from..to.min(from + MAX_LINES)).unwrap_or_default()
}

/// One line for each row, and one for each PC in `cuts` inside a row.
fn split(abi: Abi, rows: &[Row], cuts: &[u64]) -> Vec<Line> {
    let mut lines = Vec::new();
    for row in rows {
        let from = cuts.partition_point(|cut| *cut < row.start);
        let inside = cuts.iter().skip(from).take_while(|cut| **cut < row.end);
        lines.extend(inside.map(|cut| (Address(*cut), PrintedFrame::new(abi, &row.frame))));
    }
    lines
}

#[cfg(test)]
mod tests {
    use sframe_validator::unwind::{Cfa, Frame, Recovery, Register};

    use super::*;

    fn row(start: u64, end: u64, offset: i64) -> Row {
        let cfa = Cfa::RegisterOffset { register: Register(7), offset };
        let frame =
            Frame { cfa, ra: Recovery::AtCfa(-8), fp: Recovery::Unchanged, ra_signed: false };
        Row { start, end, frame }
    }

    const SIDES: (Side, Side) = (Side::Sframe, Side::Cfi);

    fn view(tables: &Tables) -> Vec<(Side, u64, &str)> {
        tables.lines.iter().map(|l| (l.side, l.start.0, l.frame.cfa.as_str())).collect()
    }

    #[test]
    fn differing_rows_are_next_to_each_other() {
        let sframe = [row(0, 1, 8), row(1, 4, 24), row(4, 9, 8)];
        let cfi = [row(0, 1, 8), row(1, 4, 16), row(4, 9, 8)];
        let tables = Tables::around(Abi::Amd64, (&sframe, &cfi), SIDES, 1, 4);
        let wanted = [
            (Side::Both, 0, "rsp+8"),
            (Side::Sframe, 1, "rsp+24"),
            (Side::Cfi, 1, "rsp+16"),
            (Side::Both, 4, "rsp+8"),
        ];
        assert_eq!(view(&tables), wanted);
        assert!(!tables.cut);
    }

    /// A row is split where the other table starts a new row, so both have a line at 0x2.
    #[test]
    fn lines_of_the_same_pc_are_next_to_each_other() {
        let sframe = [row(0, 1, 8), row(1, 9, 16)];
        let cfi = [row(0, 1, 8), row(1, 2, 16), row(2, 4, 24), row(4, 9, 16)];
        let tables = Tables::around(Abi::Amd64, (&sframe, &cfi), SIDES, 2, 4);
        let wanted = [
            (Side::Both, 0, "rsp+8"),
            (Side::Both, 1, "rsp+16"),
            (Side::Sframe, 2, "rsp+16"),
            (Side::Cfi, 2, "rsp+24"),
            (Side::Both, 4, "rsp+16"),
        ];
        assert_eq!(view(&tables), wanted);
    }

    #[test]
    fn only_lines_around_the_difference_are_shown() {
        let sframe: Vec<Row> = (0..100).map(|n| row(n, n + 1, 8 + (n as i64 % 2) * 8)).collect();
        let mut cfi = sframe.clone();
        if let Some(row) = cfi.get_mut(50) {
            row.frame.fp = Recovery::AtCfa(-16);
        }
        let tables = Tables::around(Abi::Amd64, (&sframe, &cfi), SIDES, 50, 51);
        let starts: Vec<u64> = tables.lines.iter().map(|line| line.start.0).collect();
        assert_eq!(starts, [48, 49, 50, 50, 51, 52]);
        let everything = Tables::around(Abi::Amd64, (&sframe, &[]), SIDES, 0, 100);
        assert!(everything.lines.len() <= MAX_LINES);
    }
}
