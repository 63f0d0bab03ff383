-- The violated rules, the most serious and the most frequent first, with the number of packages, files and findings.
SELECT severity, rule, count(DISTINCT package) AS packages, count(*) AS files, sum(count) AS findings
FROM counts
WHERE severity <> 'lint'
GROUP BY severity, rule
ORDER BY severity, findings DESC, rule;
