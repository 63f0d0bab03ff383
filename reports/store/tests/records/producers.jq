[to_entries[] | .key as $file | .value as $r | $r.producers[]? | {name, version, $file, counts: $r.counts}]
| group_by([.name, .version])
| map((map(.file) | unique | length) as $of | .[] as $made | $made.counts[] | select(.severity != "lint")
    | {name: $made.name, version: $made.version, rule, count, file: $made.file, of: $of})
| group_by([.name, .version, .rule])
| map([.[0].name, .[0].version, .[0].rule, (map(.file) | unique | length), (map(.count) | add), .[0].of])
| sort_by([-.[4], .[0], .[1], .[2]])[] | map(tostring) | join("\t")
