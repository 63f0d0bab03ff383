"""Reads a store's tables with several readers of Parquet. Prints lines of tab-separated values.

    read_tables.py duckdb STORE QUERY.sql         the rows of a query
    read_tables.py datafusion STORE QUERY.sql     the same
    read_tables.py pandas STORE TABLE             for each column, its name and the number of its values
"""

import os
import sys
from pathlib import Path

TABLES = ["files", "counts", "findings", "differences", "coverage", "forecasts", "forecast_losses", "consumers", "producers"]


def shown(value: object) -> str:
    """A value as text; fractions are rounded to one digit."""
    if value is None:
        return ""
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def duckdb(query: str) -> list[tuple[object, ...]]:
    import duckdb

    connection = duckdb.connect()
    connection.execute((Path(__file__).parent / "../queries/tables.sql").resolve().read_text())
    return connection.execute(Path(query).read_text()).fetchall()


def datafusion(query: str) -> list[tuple[object, ...]]:
    from datafusion import SessionContext

    context = SessionContext()
    for table in TABLES:
        context.register_parquet(table, f"tables/{table}/")
    batches = context.sql(Path(query).read_text()).collect()
    return [tuple(row.values()) for batch in batches for row in batch.to_pylist()]


def pandas(table: str) -> list[tuple[object, ...]]:
    import pandas

    frame = pandas.read_parquet(f"tables/{table}")
    return [(name, int(frame[name].count())) for name in frame.columns]


def main() -> None:
    reader, store, what = sys.argv[1:]
    what = os.path.abspath(what) if reader != "pandas" else what
    os.chdir(store)
    for row in {"duckdb": duckdb, "datafusion": datafusion, "pandas": pandas}[reader](what):
        print("\t".join(shown(value) for value in row))


main()
