def one: . * 10 | round / 10 | tostring | if contains(".") then . else . + ".0" end;
def percent($a; $b): if $b == 0 then "" else 100 * $a / $b | one end;
def total: [.found, .misread, .unreachable, .lost, .drop_section, .crash, .undecided] | map(. // 0) | add;
[.[] | select(.package) | .package.name as $package | .readings[]? | {package: $package} + .]
| group_by([.consumer, .package])
| map({
    consumer: .[0].consumer, package: .[0].package, files: length,
    lost: map(select(.outcome != "accept")) | length,
    bad: map(select(.outcome == "misread" or .outcome == "crash")) | length,
    functions: map((.functions | total) - .functions.found) | add,
    right: percent(map(.bytes.same) | add; map(.bytes | .same + (.other // 0) + (.none // 0) + (.crash // 0) + (.undecided // 0)) | add)})
| map(select(.lost > 0))
| sort_by([.consumer, -.bad, -.lost, .package])[]
| [.consumer, .package, .files, .lost, .bad, .functions, .right] | map(tostring) | join("\t")
