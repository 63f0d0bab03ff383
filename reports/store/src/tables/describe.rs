//! The documentation of the tables.

use std::fmt::Write as _;

use super::TABLES_FORMAT;
use super::column::{ColumnKind, Of, PLACE, Table};
use super::coverage::Coverage;
use super::files::{Counts, Files, Producers};
use super::findings::{Differences, Findings};
use super::forecast::{ForecastLosses, Forecasts};
use super::readings::Consumers;

const INTRODUCTION: &str = "
A complete store also contains its records as Parquet, if the program has the feature `tables`: `tables/TABLE/shard=00017/rows.parquet`, compressed with zstd. DuckDB, pandas,
DataFusion, Spark and other readers of Parquet can read a table's folder directly. [`queries/`](queries) contains useful queries:

    duckdb -c \"SELECT package, sum(errors) FROM 'STORE/tables/files/*/*.parquet' GROUP BY package\"

All tables start with the same columns, which identify the file that a row is about, so that most questions need no join. `file` joins them. Each table
has a file for each shard, which may have no rows. `shard` is the partition key: it only says where a record is stored. The same scan gives the
same bytes. Numbers are signed 64-bit integers; a number above 2^63-1, which only a malicious file contains, is stored as 2^63-1.
";

/// `TABLES.md`: every table, column by column.
#[must_use]
pub fn markdown() -> String {
    let mut page = String::from("# Tables of a store\n");
    page.push_str(INTRODUCTION);
    let _ = writeln!(
        page,
        "\nThis is version {TABLES_FORMAT} of the tables; each file states it as `sframe-store.tables` in its \
         metadata. It increases when a column\nis removed or changes its meaning."
    );
    page.push_str("\n## Columns of all tables\n\n");
    columns(&mut page, PLACE.iter().map(|column| column.what));
    table::<Files>(&mut page);
    table::<Counts>(&mut page);
    table::<Findings>(&mut page);
    table::<Differences>(&mut page);
    table::<Coverage>(&mut page);
    table::<Forecasts>(&mut page);
    table::<ForecastLosses>(&mut page);
    table::<Consumers>(&mut page);
    table::<Producers>(&mut page);
    page
}

fn table<T: Table>(page: &mut String) {
    // Writing to a String cannot fail.
    let _ = write!(page, "\n## {}\n\n{}\n\n", T::NAME, T::ABOUT);
    columns(page, T::COLUMNS.iter().map(|column| column.what));
}

fn columns(page: &mut String, columns: impl Iterator<Item = ColumnKind>) {
    page.push_str("| Column | Type | Null | Unit | Meaning |\n|---|---|---|---|---|\n");
    for ColumnKind { name, of, nullable, unit, meaning } in columns {
        let of = match of {
            Of::Numbers => "number",
            Of::Texts => "text",
            Of::Lists => "list of text",
        };
        let null = if nullable { "yes" } else { "" };
        let _ = writeln!(page, "| `{name}` | {of} | {null} | {unit} | {meaning} |");
    }
}
