# shellcheck shell=bash
# shellcheck disable=SC2154,SC2030,SC2031,SC2164 # sourced by ../build; each file is made in a subshell
# shellcheck disable=SC2086 # a linker's arguments are a list of words
# Builds the files from each minimal input in differences/, wrong-cfi/, edges/ and registers/, and records both tables.
#
# The head of NAME/input.s lists the files:
#
#   # Machine: x86_64
#   # File: 2.40.o   2.40                        assembled by that toolchain's assembler
#   # File: gold.so  2.44  gold -shared input.o  and linked by that toolchain's `ld`, by gold or by lld
#
# NAME/input.ll is compiled instead. If the toolchain is not llvm-23, its assembler reads llc's output.
#
# Next to FILE is STEM.txt: the commands, the instructions, and the output of GNU objdump and readelf for the two
# sections.

# differences FOLDER OUT: rebuilds the files of one of these folders.
differences() {
	local folder=$1 out=$2 input
	fetch_available
	scratch=$(mktemp -d)
	trap 'rm -rf "$scratch"' EXIT
	for input in "$corpus/$folder"/*/input.*; do
		difference "$input" "$out/$(basename "$(dirname "$input")")"
	done
	echo "$folder: $(find "$out" -name '*.txt' | wc -l) files" >&2
}

# difference INPUT FOLDER
difference() {
	local input=$1 out=$2 name file toolchain linker arguments machine
	name=${out#"${out%/*/*}"/}
	machine=$(head_of "$input" Machine)
	mkdir -p "$out"
	[[ $input -ef $out/${input##*/} ]] || cp "$input" "$out"
	while read -r file toolchain linker arguments; do
		if ! have "$toolchain" || { [[ $linker == lld || $input == *.ll ]] && ! have llvm-23; }; then
			echo "skipped: $name/$file: its tools are not available" >&2
			continue
		fi
		rm -rf "$scratch/work"
		mkdir "$scratch/work"
		(
			cd "$scratch/work"
			cp "$input" .
			make_difference
			if [[ ! -e $file ]]; then
				echo "skipped: $name/$file: cannot be made" >&2
				exit
			fi
			cp "$file" "$out/$file"
			print_difference >"$out/${file%.*}.txt"
		)
	done < <(head_of "$input" File)
}

# head_of INPUT KEY: prints the values of a key in the comment at the top.
head_of() { sed -nE "s,^(#|//|;) $2: +,,p" "$1"; }

# difference_depends_on FOLDER/NAME/FILE: prints the toolchains that the file, or the file of its `.txt`, is built
# and read with.
difference_depends_on() {
	local name=${1##*/} input file assembler linker
	input=$(echo "$corpus/${1%/*}"/input.*)
	while read -r file assembler linker _; do
		[[ ${file%.*} == "${name%.*}" ]] || continue
		echo "$assembler"
		[[ $linker != lld && $input != *.ll ]] || echo llvm-23
		[[ $assembler != llvm-23 ]] || echo 2.47.50
	done < <(head_of "$input" File)
}

# Makes $file, and records the commands and messages.
make_difference() {
	local object=input.o
	[[ $linker ]] || object=$file
	case $toolchain,$input in
	llvm-23,*.ll) run llc -O2 --gsframe -filetype=obj -o "$object" input.ll ;;
	llvm-23,*) run llvm-mc --gsframe -filetype=obj -triple x86_64-linux-gnu -o "$object" input.s ;;
	*,*.ll)
		run llc -O2 --no-integrated-as --binutils-version=2.40 -o input.s input.ll
		run as --gsframe -o "$object" input.s
		;;
	*) run as --gsframe -o "$object" input.s ;;
	esac
	case $linker in
	'') ;;
	lld) run lld --build-id=none -z noseparate-code -o "$file" $arguments ;;
	gold) run gold --build-id=none -z max-page-size=4096 -o "$file" $arguments ;;
	*) run "$linker" --build-id=none "${compact[@]}" -o "$file" $arguments ;;
	esac
}

# Prints the instructions, and below them both tables as GNU tools print them.
print_difference() {
	local version
	read_section "$file"
	version=$(objdump_for)
	sed 's/^/$ /' commands
	sed '/Assembler messages:$/d; s/^[^ ]*-ld: /ld: /' messages
	echo
	gnu "$version" "$machine" objdump -d --no-show-raw-insn "$file" 2>/dev/null | sed -n '/^0/,$p' | sed '/^Disassembly/d' | cat -s
	echo
	gnu "$version" "$machine" objdump --sframe=.sframe "$file" 2>/dev/null | sed -n 's/^ *$//; /func idx/,$p' | sed -E 's/^    //; s/ +$//' >left || true
	[[ -s left ]] || echo "(no functions)" >left
	gnu "$version" "$machine" readelf --debug-dump=frames-interp "$file" 2>/dev/null | sed -n '/ CIE \| FDE /,$p' >right
	side_by_side "SFrame: objdump $version --sframe=.sframe" left "CFI: readelf $version --debug-dump=frames-interp" right
}

# side_by_side TITLE FILE TITLE FILE
side_by_side() {
	awk -v left="$1" -v right="$3" '
		function row(a, b) { line = sprintf("%-48s | %s", a, b); sub(/[ \t]+$/, "", line); print line }
		BEGIN { row(left, right) }
		NR == FNR { lefts[FNR] = $0; most = FNR; next }
		{ rights[FNR] = $0; if (FNR > most) most = FNR }
		END { while (most && lefts[most] rights[most] == "") most--; for (i = 1; i <= most; i++) row(lefts[i], rights[i]) }' "$2" "$4"
}
