-- What SFrame would cost in each encoding: in total, and in percent of .eh_frame with its header, of all code and of what is loaded.
-- Programs and libraries were made from objects, so these are counted apart.
SELECT encoding, CASE WHEN elf_type = 'relocatable' THEN 'objects' ELSE 'linked' END AS kind,
    count(*) AS files, sum(section_bytes) AS section_bytes, sum(functions) AS functions, sum(lost_functions) AS lost_functions,
    100 * CAST(sum(section_bytes) AS DOUBLE) / nullif(sum(eh_frame_bytes + eh_frame_hdr_bytes), 0) AS percent_of_eh_frame,
    100 * CAST(sum(section_bytes) AS DOUBLE) / nullif(sum(loaded_bytes), 0) AS percent_of_loaded,
    100 * CAST(sum(described_bytes) AS DOUBLE) / nullif(sum(code_bytes), 0) AS percent_of_code
FROM forecasts
WHERE reason IS NULL
GROUP BY encoding, kind
ORDER BY encoding, kind;
