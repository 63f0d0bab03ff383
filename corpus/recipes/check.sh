# shellcheck shell=bash
# shellcheck disable=SC2154,SC2034 # sourced by ../build; read_section looks at machine and toolchain
# Checks that the tools still produce the files in the repository.
#
# Everything that today's packages can build is rebuilt in a temporary folder and compared byte for byte, including the
# expectations. Debian's released suites (2.40, 2.44, gcc-12) keep their versions: a difference there is an error. If
# sid has another version, or no longer has a package, a message says so, the files that depend on it are skipped, and
# today's objdump reads the old files.

check() {
	local rebuilt name
	rebuilt=$(mktemp -d)
	different=() skipped=()
	(golden "$rebuilt/golden")
	(differences differences "$rebuilt/differences")
	(differences wrong-cfi "$rebuilt/wrong-cfi")
	(differences edges "$rebuilt/edges")
	(differences registers "$rebuilt/registers")
	find_stale "$rebuilt/golden/VERSIONS.tsv"
	for name in gcc-12 2.40 2.44; do
		[[ " ${stale[*]} " != *" $name "* ]] || different+=("$name: a released suite's toolchain is missing or has another version")
	done
	compare_files golden "$rebuilt"
	compare_files differences "$rebuilt"
	compare_files wrong-cfi "$rebuilt"
	compare_files edges "$rebuilt"
	compare_files registers "$rebuilt"
	compare_tables "$rebuilt/golden"
	reread_skipped
	rm -r "$rebuilt"
	report
}

# Finds the toolchains whose versions differ from those that made the checked-in files.
find_stale() {
	local name recorded today
	stale=()
	while IFS=$'\t' read -r name recorded; do
		today=$(awk -v name="$name" '$1 == name { print $2 }' "$1")
		[[ $today == "$recorded" ]] && continue
		stale+=("$name")
		echo "skipped: $name: recorded with $recorded, today ${today:-not available}"
	done <"$corpus/golden/VERSIONS.tsv"
}

# Prints the toolchains of sid that a file depends on, according to its path.
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
	differences/* | wrong-cfi/* | edges/* | registers/*) difference_depends_on "$1" ;;
	esac
	case $1 in *.readobj) echo llvm-23 ;; esac
}

# differs PATH: records an error, or a skipped file if its toolchain has another version today.
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

# Prints the relative names of the files in any of the folders, without the tables.
list_files() {
	local folder
	for folder in "$@"; do
		(cd "$folder" && find . -mindepth 2 -type f)
	done | sed 's,^\./,,' | sort -u
}

# Compares the rows of the tables. With another version of llvm-23, its output for version 2 differs in every row.
compare_tables() {
	local table path
	for table in MANIFEST FAILED; do
		while read -r path; do
			differs "golden/$path"
		done < <(sort "$corpus/golden/$table.tsv" "$1/$table.tsv" | uniq -u | cut -f1 | sort -u)
	done
}

# Reads the files that can no longer be rebuilt with today's objdump, and compares its output.
reread_skipped() {
	local path same=0 other=0 file machine toolchain scratch
	[[ ${skipped[*]} ]] && have 2.47.50 || return 0
	scratch=$(mktemp -d)
	for path in "${skipped[@]}"; do
		path=${path#golden/}
		[[ $path != *.objdump && -e $corpus/golden/$path.objdump ]] || continue
		IFS=/ read -r toolchain machine file <<<"$path"
		cp "$corpus/golden/$path" "$scratch/$file"
		(cd "$scratch" && read_section "$file" && record_objdump "$file")
		if cmp -s "$scratch/$file.objdump" "$corpus/golden/$path.objdump"; then
			same=$((same + 1))
		else
			other=$((other + 1))
		fi
	done
	rm -r "$scratch"
	echo "skipped files read by today's objdump: $same as recorded, $other differ"
}

report() {
	if [[ ${skipped[*]} ]]; then
		echo "skipped: ${#skipped[@]} files cannot be rebuilt with today's packages"
	fi
	if [[ ${different[*]} ]]; then
		printf 'differs: %s\n' "${different[@]}" | sort -u
		exit 1
	fi
	echo "golden, differences, wrong-cfi, edges, registers: everything that could be rebuilt is as checked in"
}
