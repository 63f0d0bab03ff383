-- What is broken: each rule that is violated, the most serious and the most frequent first, in how many packages and files.
SELECT severity, rule, count(DISTINCT package) AS packages, count(*) AS files, sum(count) AS findings
FROM counts
WHERE severity <> 'lint'
GROUP BY severity, rule
ORDER BY severity, findings DESC, rule;
