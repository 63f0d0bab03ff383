-- Where stack traces end, and why: the code of files with an SFrame section that only CFI describes, by cause. A cause `none` is a
-- producer's defect. The last column is the share of all code that those files have.
SELECT coverage.cause, count(*) AS files, sum(coverage.functions) AS functions, sum(coverage.bytes) AS bytes,
    100 * CAST(sum(coverage.bytes) AS DOUBLE)
        / (SELECT sum(code_bytes) FROM files WHERE sframe_sections > 0) AS percent
FROM coverage JOIN files ON coverage.file = files.file
WHERE files.sframe_sections > 0
GROUP BY coverage.cause
ORDER BY bytes DESC, coverage.cause;
