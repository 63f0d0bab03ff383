def found($severity): [.[].counts[] | select(.severity == $severity).count] | add // 0;
[.[] | select((.sections | length) > 0 and .package)] | group_by([.package.source, .package.name, .package.version])
| map([.[0].package.source // "", .[0].package.name, .[0].package.version, length, found("error"), found("warning"),
    (map(.coverage.bytes.different) | add), (map(.coverage.bytes.only_cfi) | add)])
| sort_by([-.[4], -(.[6] // 0), -(.[7] // 0), .[1]])[:20][] | map(. // "" | tostring) | join("\t")
