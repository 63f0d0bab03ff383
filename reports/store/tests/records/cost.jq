def one: . * 10 | round / 10 | tostring | if contains(".") then . else . + ".0" end;
def ratio($a; $b): if $b == 0 then "" else $a / $b | one end;
[.[] | select(.sections[0].header.abi)] | group_by([.sections[0].header.version, .sections[0].header.abi])
| map({h: .[0].sections[0].header, n: length, bytes: ([.[].sections[].size] | add), functions: ([.[].sections[].functions] | add), covered: (map(.covered_bytes) | add)})
| sort_by([.h.version, .h.abi])[]
| [.h.version, .h.abi, .n, .bytes, .functions, ratio(.bytes; .functions), ratio(100 * .bytes; .covered)]
| map(tostring) | join("\t")
