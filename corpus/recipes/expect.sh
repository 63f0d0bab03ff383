# shellcheck shell=bash
# shellcheck disable=SC2154,SC2030,SC2031,SC2164 # sourced by ../build, which sets -e; each folder is read in a subshell
# Records the output of the tools for golden files, and writes the manifest.
#
# FILE.objdump: the output of `objdump --sframe=.sframe`, from the version of GNU objdump for the file's SFrame version,
# without the lines that name the file. FILE.readobj: the same for `llvm-readobj --sframe`, which reads version 2.

# expect FOLDER TOOLCHAIN MACHINE: reads the log of `keep`, writes the expectations, prints the lines of the manifest.
expect() {
	local toolchain=$2 machine=$3 file why commands messages objdump_result readobj_result
	local sframe_version flags section_type section_size functions rows
	(
		cd "$1"
		while IFS=$'\t' read -r file why commands messages; do
			read_section "$file"
			record_objdump "$file"
			record_readobj "$file"
			printf '%s\t' "$toolchain/$machine/$file" "$machine" "$sframe_version" "$flags" "$section_type" "$section_size" \
				"$functions" "$rows" "$objdump_result" "$readobj_result" "$(sha256sum <"$file" | cut -d' ' -f1)" \
				"$(made_with "$toolchain")" "$why" "$commands"
			printf '%s\n' "$messages"
		done
	)
}

# read_section FILE: sets variables from the section header and the SFrame header; `-` if there is nothing to read. For
# an archive, sets the sums over its members.
read_section() {
	local file=$1 member type offset size
	sframe_version=- flags=- section_type=- section_size=- functions=- rows=-
	case $file in
	*.a)
		local dir=$scratch/members
		rm -rf "$dir" && mkdir -p "$dir"
		(file=$PWD/$file && cd "$dir" && gnu 2.44 x86_64 ar x "$file")
		section_size=0 functions=0 rows=0
		for member in "$dir"/*.o; do
			read_header "$member" || continue
			sframe_version=$h_version flags=$h_flags section_type=$type
			section_size=$((section_size + size)) functions=$((functions + h_functions)) rows=$((rows + h_rows))
		done
		;;
	*)
		if read_header "$file"; then
			sframe_version=$h_version flags=$h_flags functions=$h_functions rows=$h_rows
		fi
		section_type=${type:--} section_size=${size:--}
		;;
	esac
}

# read_header FILE: sets the caller's type, offset and size, and h_* from the first 28 bytes of the section.
read_header() {
	local file=$1 line order=little bytes
	line=$(gnu 2.44 x86_64 readelf -SW "$file" 2>/dev/null | sed -E 's/^ *\[ *[0-9]+\] *//' | awk '$1 == ".sframe"')
	type='' offset='' size=''
	[[ $line ]] || return 1
	read -r _ type _ offset size _ <<<"$line"
	[[ $type != LOOS+0xffffff4 ]] || type=GNU_SFRAME # readelf 2.44 has no name for it
	offset=$((16#$offset)) size=$((16#$size))
	[[ $type != NOBITS && $size -ge 28 ]] || return 1
	case $machine in *_be | s390x) order=big ;; esac
	read -r -a bytes <<<"$(od -An -v --endian=$order -tu1 -j "$offset" -N 4 "$file" | xargs)"
	h_version=${bytes[2]} h_flags=$(printf '0x%x' "${bytes[3]}")
	read -r h_functions h_rows <<<"$(od -An -v --endian=$order -tu4 -j $((offset + 8)) -N 8 "$file" | xargs)"
}

# Prints the version of binutils that reads a file: according to its header, or the one that made it if it has no
# header.
objdump_for() {
	case $sframe_version:$flags in
	1:*) echo 2.40 ;;
	2:0x0 | 2:0x1) echo 2.44 ;;
	[23]:*) echo 2.47.50 ;;
	*) case $toolchain in 2.40 | 2.44) echo "$toolchain" ;; *) echo 2.47.50 ;; esac ;;
	esac
}

# record_objdump FILE: writes FILE.objdump, sets objdump_result: version, exit status, error message.
record_objdump() {
	local file=$1 version status=0
	version=$(objdump_for)
	objdump_result="$version: missing"
	have "$version" || return 0
	{ timeout 60 "$cache/$version/bin/${machine%_be}-linux-gnu-objdump" --sframe=.sframe "$file" >"$scratch/stdout" 2>"$scratch/stderr" || status=$?; } 2>/dev/null
	case $file in *.a) sed 1d "$scratch/stdout" ;; *) sed 1,3d "$scratch/stdout" ;; esac >"$file.objdump"
	[[ -s $file.objdump ]] || rm "$file.objdump"
	objdump_result="$version: $status$(error_message)"
}

record_readobj() {
	local file=$1 status=0
	readobj_result=-
	[[ $sframe_version == 2 ]] || return 0
	readobj_result=missing
	have llvm-23 || return 0
	timeout 60 "$cache/llvm-23/bin/llvm-readobj" --sframe "$file" >"$scratch/stdout" 2>"$scratch/stderr" || status=$?
	case $file in *.a) cat "$scratch/stdout" ;; *) sed -n '/^SFrame section/,$p' "$scratch/stdout" ;; esac >"$file.readobj"
	readobj_result="$status$(error_message)"
}

error_message() {
	[[ -s $scratch/stderr ]] || return 0
	printf ', '
	one_line "$scratch/stderr"
}

made_with() {
	case $1 in
	2.40 | 2.44 | 2.47.50) echo "gcc $(version gcc-12), binutils $(version "$1")" ;;
	llvm-23) echo "gcc $(version gcc-12), LLVM $(version llvm-23)" ;;
	lld) echo "gcc $(version gcc-12), lld $(version llvm-23), objects of LLVM, binutils $(version 2.44), $(version 2.47.50)" ;;
	gold) echo "gcc $(version gcc-12), gold of binutils $(version 2.40), objects of binutils $(version 2.40), $(version 2.44), $(version 2.47.50)" ;;
	mold) echo "gcc $(version gcc-12), mold $(version mold), objects of binutils $(version 2.47.50)" ;;
	esac
}

# write_manifest OUT TOOLCHAIN...: replaces the rows of these toolchains and keeps those of the others.
write_manifest() {
	local out=$1 name columns old
	shift
	columns=(path machine sframe_version flags section_type section_size functions rows objdump readobj sha256 tools shape commands messages)
	for old in MANIFEST FAILED; do
		[[ -e $out/$old.tsv ]] || continue
		for name in "$@"; do
			sed -i "/^${name//./\\.}\\//d" "$out/$old.tsv"
		done
	done
	{
		(IFS=$'\t' && echo "${columns[*]}")
		{
			sed 1d "$out/MANIFEST.tsv" 2>/dev/null || true
			cat "$scratch"/rows/* 2>/dev/null || true
		} | sort
	} >"$scratch/manifest"
	{ cat "$out/FAILED.tsv" "$scratch/failed" 2>/dev/null || true; } | sort >"$scratch/all-failed"
	for name in gcc-12 "${all_toolchains[@]}"; do
		! have "$name" || printf '%s\t%s\n' "$name" "$(version "$name")"
	done >"$out/VERSIONS.tsv"
	cp "$scratch/manifest" "$out/MANIFEST.tsv"
	cp "$scratch/all-failed" "$out/FAILED.tsv"
	echo "golden: $(wc -l <"$out/FAILED.tsv") files the tools fail to make, see FAILED.tsv" >&2
}
