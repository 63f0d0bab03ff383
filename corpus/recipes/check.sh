# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # sourced by ../build; read_section looks at machine and toolchain
# Is what is checked in what the tools make and say today?
#
# Everything that can be had is rebuilt in a scratch folder and compared byte for byte, expectations included. Debian's
# released suites (2.40, 2.44, gcc-12) keep their versions: a difference there is an error. Where sid has moved on, or no
# longer has a package, that is said, what depends on it is skipped, and today's objdump is asked about the old files.

check() {
	local rebuilt name
	rebuilt=$(mktemp -d)
	different=() skipped=()
	(golden "$rebuilt/golden")
	(differences "$rebuilt/differences")
	find_stale "$rebuilt/golden/VERSIONS.tsv"
	for name in gcc-12 2.40 2.44; do
		[[ " ${stale[*]} " != *" $name "* ]] || different+=("$name: a released suite's toolchain is missing or has another version")
	done
	compare_files golden "$rebuilt"
	compare_files differences "$rebuilt"
	compare_tables "$rebuilt/golden"
	reread_skipped
	rm -r "$rebuilt"
	report
}

# Toolchains that are not what the checked-in files were made with.
find_stale() {
	local name recorded today
	stale=()
	while IFS=$'\t' read -r name recorded; do
		today=$(awk -v name="$name" '$1 == name { print $2 }' "$1")
		[[ $today == "$recorded" ]] && continue
		stale+=("$name")
		echo "skipped: $name: recorded with $recorded, today ${today:-not to be had}"
	done <"$corpus/golden/VERSIONS.tsv"
}

# The toolchains of sid that a file depends on; the path says it.
depends_on() {
	case $1 in
	golden/2.44/*/mixed-3-*) echo 2.47.50 ;;
	golden/2.44/*/mixed-llvm-*) echo llvm-23 ;;
	golden/2.47.50/*) echo 2.47.50 llvm-23 ;;
	golden/llvm-23/*.objdump) echo llvm-23 2.47.50 ;;
	golden/llvm-23/*) echo llvm-23 ;;
	golden/lld/*) echo llvm-23 2.47.50 ;;
	golden/gold/*/v3-*) echo 2.47.50 ;;
	golden/mold/*) echo mold 2.47.50 ;;
	differences/*) difference_depends_on "$1" ;;
	esac
	case $1 in *.readobj) echo llvm-23 ;; esac
}

# differs PATH: an error, or a file to skip for a reason already given.
differs() {
	local name
	for name in $(depends_on "$1"); do
		if [[ " ${stale[*]} " == *" $name "* ]]; then
			skipped+=("$1")
			return
		fi
	done
	different+=("$1")
}

# compare_files FOLDER REBUILT
compare_files() {
	local path
	while read -r path; do
		cmp -s "$corpus/$1/$path" "$2/$1/$path" || differs "$1/$path"
	done < <(list_files "$corpus/$1" "$2/$1")
}

# The relative names of the files in any of the folders, but for the tables.
list_files() {
	local folder
	for folder in "$@"; do
		(cd "$folder" && find . -mindepth 2 -type f)
	done | sed 's,^\./,,' | sort -u
}

# Rows of the tables that are not on both sides. With another llvm-23, what it says about version 2 is in every such row.
compare_tables() {
	local table path
	for table in MANIFEST FAILED; do
		while read -r path; do
			differs "golden/$path"
		done < <(sort "$corpus/golden/$table.tsv" "$1/$table.tsv" | uniq -u | cut -f1 | sort -u)
	done
}

# Files that cannot be rebuilt any more can still be read.
reread_skipped() {
	local path same=0 other=0 file machine toolchain scratch
	[[ ${skipped[*]} ]] && have 2.47.50 || return 0
	scratch=$(mktemp -d)
	for path in "${skipped[@]}"; do
		path=${path#golden/}
		[[ $path != *.objdump && -e $corpus/golden/$path.objdump ]] || continue
		IFS=/ read -r toolchain machine file <<<"$path"
		cp "$corpus/golden/$path" "$scratch/$file"
		(cd "$scratch" && read_section "$file" && say_objdump "$file")
		if cmp -s "$scratch/$file.objdump" "$corpus/golden/$path.objdump"; then
			same=$((same + 1))
		else
			other=$((other + 1))
		fi
	done
	rm -r "$scratch"
	echo "skipped files read by today's objdump: $same as recorded, $other otherwise"
}

report() {
	if [[ ${skipped[*]} ]]; then
		echo "skipped: ${#skipped[@]} files cannot be rebuilt with today's packages"
	fi
	if [[ ${different[*]} ]]; then
		printf 'differs: %s\n' "${different[@]}" | sort -u
		exit 1
	fi
	echo "golden, differences: everything that could be rebuilt is as checked in"
}
