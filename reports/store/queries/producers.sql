-- Findings by producer: of the files that name a producer, the number that violate each rule.
SELECT producers.producer, producers.producer_version, counts.rule, count(DISTINCT counts.file) AS files,
    sum(counts.count) AS findings, made.files AS out_of
FROM producers
JOIN counts ON counts.file = producers.file
JOIN (
    SELECT producer, producer_version, count(DISTINCT file) AS files FROM producers GROUP BY producer, producer_version
) AS made ON made.producer = producers.producer AND made.producer_version = producers.producer_version
WHERE counts.severity <> 'lint'
GROUP BY producers.producer, producers.producer_version, counts.rule, made.files
ORDER BY findings DESC, producers.producer, producers.producer_version, counts.rule;
