-- The worst packages: by errors, then by code that SFrame and CFI describe differently, then by code that only CFI describes.
SELECT source, package, version, count(*) AS files, sum(errors) AS errors, sum(warnings) AS warnings,
    sum(different_bytes) AS different_bytes, sum(only_cfi_bytes) AS lost_bytes
FROM files
WHERE sframe_sections > 0 AND package IS NOT NULL
GROUP BY source, package, version
ORDER BY errors DESC, different_bytes DESC, lost_bytes DESC, package
LIMIT 20;
