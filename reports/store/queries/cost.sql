-- The size of SFrame by format version and machine: in total, for each function, and in percent of the code it describes.
SELECT sframe_version, abi, count(*) AS files, sum(sframe_bytes) AS sframe_bytes, sum(functions) AS functions,
    CAST(sum(sframe_bytes) AS DOUBLE) / nullif(sum(functions), 0) AS bytes_per_function,
    100 * CAST(sum(sframe_bytes) AS DOUBLE) / nullif(sum(covered_bytes), 0) AS percent_of_covered
FROM files
WHERE sframe_version IS NOT NULL AND abi IS NOT NULL
GROUP BY sframe_version, abi
ORDER BY sframe_version, abi;
