-- Code without SFrame, where stack traces end: code in files with an SFrame section that only CFI describes, by cause. The cause
-- `none` means a defect of the producer. The last column is the share of all code of those files.
SELECT coverage.cause, count(*) AS files, sum(coverage.functions) AS functions, sum(coverage.bytes) AS bytes,
    100 * CAST(sum(coverage.bytes) AS DOUBLE)
        / (SELECT sum(code_bytes) FROM files WHERE sframe_sections > 0) AS percent
FROM coverage JOIN files ON coverage.file = files.file
WHERE files.sframe_sections > 0
GROUP BY coverage.cause
ORDER BY bytes DESC, coverage.cause;
