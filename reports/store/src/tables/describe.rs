//! The tables' documentation.

use std::fmt::Write as _;

use super::TABLES_FORMAT;
use super::column::{ColumnKind, Of, PLACE, Table};
use super::coverage::Coverage;
use super::files::{Counts, Files, Producers};
use super::findings::{Differences, Findings};

const INTRODUCTION: &str = "
A store that is complete has its records as Parquet, too: `tables/TABLE/shard=00017/rows.parquet`, compressed with zstd. DuckDB, pandas,
DataFusion, Spark and whatever else reads Parquet take a table's folder as it stands, and [`queries/`](queries) has questions worth asking:

    duckdb -c \"SELECT package, sum(errors) FROM 'STORE/tables/files/*/*.parquet' GROUP BY package\"

All tables start with the same columns, which say which file a row is about, so that most questions need no join. `file` joins them. Each table
has a file for each shard, without rows where there are none. `shard` is the partition's key: it says where a record is stored, and nothing
else. The same scan gives the same bytes. Numbers are signed 64-bit integers; one above 2^63-1, which only a hostile file states, stands as 2^63-1.
";

/// `TABLES.md`: every table, column by column.
#[must_use]
pub fn markdown() -> String {
    let mut page = String::from("# Tables of a store\n");
    page.push_str(INTRODUCTION);
    let _ = writeln!(
        page,
        "\nThis is version {TABLES_FORMAT} of the tables, which each file says under `sframe-store.tables` in its \
         metadata; it grows where a column\ngoes or changes its meaning."
    );
    page.push_str("\n## Columns of all tables\n\n");
    columns(&mut page, PLACE.iter().map(|column| column.what));
    table::<Files>(&mut page);
    table::<Counts>(&mut page);
    table::<Findings>(&mut page);
    table::<Differences>(&mut page);
    table::<Coverage>(&mut page);
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
