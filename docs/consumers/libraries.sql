-- What each consumer does with the libraries of `libraries`, by machine and version of the section: counts of files, and the shares
-- of the described code for which it finds the right row, and another one. In the folder of the store:
--     duckdb -markdown -c '.read QUERIES/tables.sql' -c '.read libraries.sql'
WITH outcomes AS (
    SELECT consumer, abi, sframe_version AS version, outcome, count(*) AS files,
        sum(described_bytes) AS described, sum(same_bytes) AS same, sum(other_bytes) AS other
    FROM consumers JOIN files USING (file)
    GROUP BY ALL),
cells AS (
    SELECT consumer, abi || ', version ' || version AS section,
        string_agg(format('{:,} {}', files, outcome), ', ' ORDER BY files DESC, outcome)
            || CASE WHEN sum(same) > 0 THEN printf('; %.2f %% right', 100 * sum(same) / sum(described)) ELSE '' END
            || CASE WHEN sum(other) > 0 THEN printf(', %.2f %% wrong', 100 * sum(other) / sum(described)) ELSE '' END AS cell
    FROM outcomes
    GROUP BY ALL)
PIVOT cells ON section IN ('AMD64, version 2', 'AMD64, version 3', 'AArch64, version 2', 'AArch64, version 3')
USING first(cell) GROUP BY consumer ORDER BY consumer;
