"""Reads forecasts from stores of sframe-check, for figures.py and plots.py."""

import duckdb

ENCODINGS = ["gnu-2.40", "gnu-2.44", "gnu-2.47.50", "smallest-v2", "smallest-v3"]
PARTS = {
    "header_bytes": "header",
    "index_bytes": "function index",
    "attribute_bytes": "attributes",
    "row_start_bytes": "row starts",
    "row_info_bytes": "row info bytes",
    "data_word_bytes": "data words",
}


class Store:
    """The tables of one store."""

    def __init__(self, folder):
        self.folder = folder
        self.db = duckdb.connect()
        for table in ["files", "forecasts", "forecast_losses", "coverage"]:
            path = f"{folder}/tables/{table}/*/*.parquet"
            self.db.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet('{path}')")
        # A linked file has .eh_frame_hdr; .eh_frame has more than its terminator, and no encoding is without a section.
        self.db.execute("""
            CREATE TABLE linked AS
            WITH compared AS (
                SELECT file FROM forecasts
                WHERE reason IS NULL AND section_bytes > 0 AND eh_frame_hdr_bytes > 0 AND eh_frame_bytes > 4
                GROUP BY file HAVING count(*) = 5)
            SELECT *, eh_frame_bytes + eh_frame_hdr_bytes AS cfi_bytes,
                section_bytes / (eh_frame_bytes + eh_frame_hdr_bytes) AS ratio
            FROM forecasts SEMI JOIN compared USING (file)""")

    def rows(self, query):
        """The rows that a query returns."""
        return self.db.execute(query).fetchall()

    def by_encoding(self, expression, table="linked"):
        """The value of an expression for each encoding, in the order of ENCODINGS."""
        found = dict(self.rows(f"SELECT encoding, {expression} FROM {table} GROUP BY encoding"))
        return [found[encoding] for encoding in ENCODINGS]


def public(csv):
    """The public data set: rows of file name, SFrame bytes, and bytes of .eh_frame with its header."""
    query = """
        SELECT column0, TRY_CAST(column2 AS DOUBLE) AS sframe, TRY_CAST(column3 AS DOUBLE) AS cfi
        FROM read_csv($1, header = false, all_varchar = true) WHERE sframe IS NOT NULL"""
    return duckdb.execute(query, [csv]).fetchall()


def same_names(csv, stores, encoding):
    """Pairs of ratios (public, predicted) and sizes, of files whose name occurs once on each side."""
    theirs = once((path.rsplit("/", 1)[-1], (sframe, cfi)) for path, sframe, cfi in public(csv))
    query = f"SELECT coalesce(inside, path), section_bytes, cfi_bytes FROM linked WHERE encoding = '{encoding}'"
    ours = once((path.rsplit("/", 1)[-1], (sframe, cfi)) for store in stores for path, sframe, cfi in store.rows(query))
    return {name: theirs[name] + ours[name] for name in sorted(theirs.keys() & ours.keys())}


def once(pairs):
    """The pairs whose key occurs once, as a dictionary."""
    found, repeated = {}, set()
    for key, value in pairs:
        if key in found:
            repeated.add(key)
        found[key] = value
    return {key: value for key, value in found.items() if key not in repeated}
