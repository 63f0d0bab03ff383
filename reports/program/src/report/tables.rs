//! Two tables of rows laid over each other: which lines they share, and which only one of them has.

use sframe_validator::Abi;
use sframe_validator::unwind::{Frame, Named, Row};
use similar::{Algorithm, ChangeTag, capture_diff_slices};

/// How many lines that both tables have are shown before and behind those that differ.
const CONTEXT: usize = 2;
/// How many lines are shown at most.
const MAX_LINES: usize = 24;

/// Which of the two tables has a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// Both of them.
    Both,
    /// The first one.
    First,
    /// The second one.
    Second,
}

/// A line of a table, as people read it: registers have their machine's names.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Cells {
    /// The first PC.
    pub start: u64,
    /// The canonical frame address.
    pub cfa: String,
    /// The return address.
    pub ra: String,
    /// The caller's frame pointer.
    pub fp: String,
    /// The return address is signed.
    pub ra_signed: bool,
}

impl Cells {
    /// The line of a frame that holds from `start` on.
    #[must_use]
    pub fn of(abi: Abi, start: u64, frame: &Frame) -> Cells {
        Cells {
            start,
            cfa: Named(abi, frame.cfa).to_string(),
            ra: Named(abi, frame.ra).to_string(),
            fp: Named(abi, frame.fp).to_string(),
            ra_signed: frame.ra_signed,
        }
    }
}

/// One line of the view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Which table has it.
    pub side: Side,
    /// What it says.
    pub cells: Cells,
}

/// The part of two tables around the place where they differ.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tables {
    /// The lines, by PC; of one PC those of the first table first.
    pub lines: Vec<Line>,
    /// Lines were left out behind the last one.
    pub cut: bool,
}

impl Tables {
    /// Lays two tables over each other and keeps what is around the PCs `[start, end)`. Both are cut
    /// where either has a new row, so that lines of one PC can be held against each other.
    #[must_use]
    pub fn around(abi: Abi, first: &[Row], second: &[Row], start: u64, end: u64) -> Tables {
        let (low, high) = surroundings(&[first, second], start, end);
        let (first, second) = (within(first, low, high), within(second, low, high));
        let mut cuts: Vec<u64> = first.iter().chain(second).map(|row| row.start).collect();
        cuts.sort_unstable();
        cuts.dedup();
        let (first, second) = (cells(abi, first, &cuts), cells(abi, second, &cuts));
        let mut lines = Vec::new();
        for operation in capture_diff_slices(Algorithm::Myers, &first, &second) {
            for change in operation.iter_changes(&first, &second) {
                let side = match change.tag() {
                    ChangeTag::Equal => Side::Both,
                    ChangeTag::Delete => Side::First,
                    ChangeTag::Insert => Side::Second,
                };
                lines.push(Line { side, cells: change.value() });
            }
        }
        lines.sort_by_key(|line| (line.cells.start, line.side));
        let cut = lines.len() > MAX_LINES;
        lines.truncate(MAX_LINES);
        Tables { lines, cut }
    }
}

/// The PCs `[start, end)`, and as many more as a few rows around them have, in both tables alike.
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

/// The rows that start in `[low, high)`, as many as can be shown.
fn within(rows: &[Row], low: u64, high: u64) -> &[Row] {
    let from = rows.partition_point(|row| row.start < low);
    let to = rows.partition_point(|row| row.start < high);
    rows.get(from..to.min(from + MAX_LINES)).unwrap_or_default()
}

/// One line for each of the rows, and for each place in `cuts` that is inside one.
fn cells(abi: Abi, rows: &[Row], cuts: &[u64]) -> Vec<Cells> {
    let mut cells = Vec::new();
    for row in rows {
        let from = cuts.partition_point(|cut| *cut < row.start);
        let inside = cuts.iter().skip(from).take_while(|cut| **cut < row.end);
        cells.extend(inside.map(|cut| Cells::of(abi, *cut, &row.frame)));
    }
    cells
}

#[cfg(test)]
mod tests {
    use sframe_validator::unwind::{Cfa, Recovery, Register};

    use super::*;

    fn row(start: u64, end: u64, offset: i64) -> Row {
        let cfa = Cfa::RegisterOffset { register: Register(7), offset };
        let frame =
            Frame { cfa, ra: Recovery::AtCfa(-8), fp: Recovery::Unchanged, ra_signed: false };
        Row { start, end, frame }
    }

    fn view(tables: &Tables) -> Vec<(Side, u64, &str)> {
        tables.lines.iter().map(|l| (l.side, l.cells.start, l.cells.cfa.as_str())).collect()
    }

    #[test]
    fn a_wrong_row_stands_beside_the_right_one() {
        let ours = [row(0, 1, 8), row(1, 4, 24), row(4, 9, 8)];
        let truth = [row(0, 1, 8), row(1, 4, 16), row(4, 9, 8)];
        let tables = Tables::around(Abi::Amd64, &ours, &truth, 1, 4);
        let wanted = [
            (Side::Both, 0, "rsp+8"),
            (Side::First, 1, "rsp+24"),
            (Side::Second, 1, "rsp+16"),
            (Side::Both, 4, "rsp+8"),
        ];
        assert_eq!(view(&tables), wanted);
        assert!(!tables.cut);
    }

    /// A row of the one is split where the other has a new row: 0x2 is a line of both.
    #[test]
    fn lines_of_one_pc_stand_beside_each_other() {
        let ours = [row(0, 1, 8), row(1, 9, 16)];
        let truth = [row(0, 1, 8), row(1, 2, 16), row(2, 4, 24), row(4, 9, 16)];
        let tables = Tables::around(Abi::Amd64, &ours, &truth, 2, 4);
        let wanted = [
            (Side::Both, 0, "rsp+8"),
            (Side::Both, 1, "rsp+16"),
            (Side::First, 2, "rsp+16"),
            (Side::Second, 2, "rsp+24"),
            (Side::Both, 4, "rsp+16"),
        ];
        assert_eq!(view(&tables), wanted);
    }

    #[test]
    fn only_what_is_around_the_place_is_shown() {
        let ours: Vec<Row> = (0..100).map(|n| row(n, n + 1, 8 + (n as i64 % 2) * 8)).collect();
        let mut truth = ours.clone();
        if let Some(row) = truth.get_mut(50) {
            row.frame.fp = Recovery::AtCfa(-16);
        }
        let tables = Tables::around(Abi::Amd64, &ours, &truth, 50, 51);
        let starts: Vec<u64> = tables.lines.iter().map(|line| line.cells.start).collect();
        assert_eq!(starts, [48, 49, 50, 50, 51, 52]);
        let everything = Tables::around(Abi::Amd64, &ours, &[], 0, 100);
        assert!(everything.lines.len() <= MAX_LINES);
    }
}
