//! What consumers do with sections.

use sframe_record::Reading;

use super::column::{Cell, Column, ColumnKind, Table};

/// `consumers`.
pub(super) enum Consumers {}

impl Table for Consumers {
    const NAME: &'static str = "consumers";
    const ABOUT: &'static str =
        "What a program that reads SFrame does with the sections of a file: what `--for` reports.";
    type Row<'r> = &'r Reading<'r>;
    const COLUMNS: &'static [Column<Consumers>] = &[
        column(
            ColumnKind::texts("consumer", "`linux-user-v3` and others, which `explain` knows"),
            |row| Cell::text(&row.consumer),
        ),
        column(
            ColumnKind::texts(
                "outcome",
                "`accept`, `part`, `ignore`, `reject`, `undecided`, `misread` or `crash`",
            ),
            |row| Cell::text(row.outcome.name()),
        ),
        column(
            ColumnKind::texts(
                "reason",
                "why it does not use the section, or why that is undecided",
            )
            .or_null(),
            |row| Cell::optional_text(row.reason.as_deref()),
        ),
        functions("functions", "functions in the sections", |row| {
            Cell::Number(row.functions.total())
        }),
        functions("found_functions", "those with the right row at every PC", |row| {
            Cell::Number(row.functions.found)
        }),
        functions("misread_functions", "those with a wrong row at some PC", |row| {
            Cell::Number(row.functions.misread)
        }),
        functions("unreachable_functions", "those that the search does not find", |row| {
            Cell::Number(row.functions.unreachable)
        }),
        functions("lost_functions", "those without a row at some PC", |row| {
            Cell::Number(row.functions.lost)
        }),
        functions("dropping_functions", "those at which it stops using the section", |row| {
            Cell::Number(row.functions.drop_section)
        }),
        functions("crashing_functions", "those at which it crashes", |row| {
            Cell::Number(row.functions.crash)
        }),
        functions("undecided_functions", "those about which nothing is known", |row| {
            Cell::Number(row.functions.undecided)
        }),
        bytes("described_bytes", "code that the sections describe", |row| {
            Cell::Number(row.bytes.total())
        }),
        bytes("same_bytes", "code for which it finds the right row", |row| {
            Cell::Number(row.bytes.same)
        }),
        bytes("other_bytes", "code for which it finds a wrong row", |row| {
            Cell::Number(row.bytes.other)
        }),
        bytes("no_row_bytes", "code for which it finds no row", |row| Cell::Number(row.bytes.none)),
        bytes("beyond_bytes", "other code, for which it finds a row that does not exist", |row| {
            Cell::Number(row.bytes.beyond)
        }),
    ];
}

const fn column(
    what: ColumnKind,
    cell: for<'c, 'r> fn(&'c &'r Reading<'r>) -> Cell<'c>,
) -> Column<Consumers> {
    Column { what, cell }
}

const fn functions(
    name: &'static str,
    meaning: &'static str,
    cell: for<'c, 'r> fn(&'c &'r Reading<'r>) -> Cell<'c>,
) -> Column<Consumers> {
    Column { what: ColumnKind::numbers(name, "", meaning), cell }
}

const fn bytes(
    name: &'static str,
    meaning: &'static str,
    cell: for<'c, 'r> fn(&'c &'r Reading<'r>) -> Cell<'c>,
) -> Column<Consumers> {
    Column { what: ColumnKind::numbers(name, "bytes", meaning), cell }
}
