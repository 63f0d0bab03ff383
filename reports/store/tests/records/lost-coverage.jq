map(select((.sections | length) > 0)) as $files
| ($files | map(.code_bytes) | add) as $code
| [$files[].coverage.losses[]?] | group_by(.cause)
| map([.[0].cause, length, (map(.functions) | add), (map(.bytes) | add)])
| sort_by([-.[3], .[0]])[] | . + [1000 * .[3] / $code | round / 10 | tostring | if contains(".") then . else . + ".0" end]
| map(tostring) | join("\t")
