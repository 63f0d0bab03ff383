//! Functions that SFrame does not describe, by cause.

use sframe_record::{FunctionPlace, Loss};

use super::column::{Cell, Column, ColumnKind, Table};

/// `coverage`.
pub(super) enum Coverage {}

impl Table for Coverage {
    const NAME: &'static str = "coverage";
    const ABOUT: &'static str = "A cause for which SFrame does not describe functions of a file that CFI does; \
        in a file without a section, what would keep them out of one. How many bytes and functions are \
        described, `files` says.";
    type Row<'r> = Loss<'r>;
    const COLUMNS: &'static [Column<Coverage>] = &[
        Column {
            what: ColumnKind::texts(
                "cause",
                "the cause; `none` where nothing in the CFI explains it",
            ),
            cell: |loss| Cell::text(&loss.cause),
        },
        Column {
            what: ColumnKind::numbers("functions", "", "functions that are lost"),
            cell: |loss| Cell::Number(loss.functions),
        },
        Column {
            what: ColumnKind::numbers("bytes", "bytes", "code of these"),
            cell: |loss| Cell::Number(loss.bytes),
        },
        Column {
            what: ColumnKind::lists("examples", "the first few of them: symbols, or addresses"),
            cell: |loss| Cell::List(loss.examples.iter().map(named).collect()),
        },
    ];
}

fn named<'c>(place: &'c FunctionPlace<'_>) -> std::borrow::Cow<'c, str> {
    match &place.symbol {
        Some(symbol) => symbol.as_str().into(),
        None => format!("{:#x}", place.start.0).into(),
    }
}
