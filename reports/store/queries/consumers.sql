-- Which packages a consumer would lose: those with files of which it does not find every row, with how much of their code has the right row.
SELECT consumer, package, count(*) AS files, sum(CASE WHEN outcome = 'accept' THEN 0 ELSE 1 END) AS lost_files,
    sum(CASE WHEN outcome IN ('misread', 'crash') THEN 1 ELSE 0 END) AS misread_or_crash,
    sum(functions - found_functions) AS lost_functions,
    100 * CAST(sum(same_bytes) AS DOUBLE) / nullif(sum(described_bytes), 0) AS percent_right
FROM consumers
WHERE package IS NOT NULL
GROUP BY consumer, package
HAVING sum(CASE WHEN outcome = 'accept' THEN 0 ELSE 1 END) > 0
ORDER BY consumer, misread_or_crash DESC, lost_files DESC, package
LIMIT 200;
