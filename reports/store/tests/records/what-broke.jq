[.[] as $file | $file.counts[] | select(.severity != "lint") | {severity, rule, count, package: $file.package.name}]
| group_by([.severity, .rule])
| map([.[0].severity, .[0].rule, (map(.package | select(.)) | unique | length), length, (map(.count) | add)])
| sort_by([.[0], -.[4], .[1]])[] | map(tostring) | join("\t")
