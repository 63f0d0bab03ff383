//! Functions that SFrame does not describe, by cause.

use sframe_record::{FunctionPlace, Loss};

use super::column::{Cell, Column, ColumnKind, Table};

/// `coverage`.
pub(super) enum Coverage {}

impl Table for Coverage {
    const NAME: &'static str = "coverage";
    const ABOUT: &'static str = "A cause why SFrame does not describe functions of a file that CFI describes; \
        for a file without a section, why a section could not describe them. `files` has the numbers of bytes and \
        functions that are described.";
    type Row<'r> = Loss<'r>;
    const COLUMNS: &'static [Column<Coverage>] = &[
        Column {
            what: ColumnKind::texts(
                "cause",
                "the cause; `none` if nothing in the CFI explains the loss",
            ),
            cell: |loss| Cell::text(&loss.cause),
        },
        Column {
            what: ColumnKind::numbers("functions", "", "number of functions lost"),
            cell: |loss| Cell::Number(loss.functions),
        },
        Column {
            what: ColumnKind::numbers("bytes", "bytes", "size of these functions"),
            cell: |loss| Cell::Number(loss.bytes),
        },
        Column {
            what: ColumnKind::lists("examples", "the first few functions: symbols or addresses"),
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
