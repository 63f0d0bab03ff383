def one: . * 10 | round / 10 | tostring | if contains(".") then . else . + ".0" end;
def percent($a; $b): if $b == 0 then "" else 100 * $a / $b | one end;
[.[] | select(.forecast) | .forecast.sizes as $sizes
  | (if .forecast.elf_type == "relocatable" then "objects" else "linked" end) as $kind | .forecast.sections[] | select(.reason | not) | {s: ., z: $sizes, k: $kind}]
| group_by([.s.encoding, .k])[]
| (map(.s.bytes) | add) as $bytes
| [.[0].s.encoding, .[0].k, length, $bytes, (map(.s.functions) | add), ([.[].s.losses[].functions] | add // 0),
   percent($bytes; map(.z.eh_frame + .z.eh_frame_hdr) | add), percent($bytes; map(.z.loaded_file) | add),
   percent(map(.s.described_bytes) | add; map(.z.code) | add)]
| map(tostring) | join("\t")
