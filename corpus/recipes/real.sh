# shellcheck shell=bash
# shellcheck disable=SC2154,SC2030,SC2031,SC2046,SC2086 # sourced by ../build; byte_order and the like print a word or nothing
# Real libraries, which are not checked in: SQLite and zlib from the crates that contain their sources, for tests and
# benchmarks.
#
# target/real/TOOLCHAIN/MACHINE/{sqlite3,zlib}.so, all made from the same assembly. lld does not merge LLVM's sections,
# so with it only the library that consists of a single object is linked.

all_real=(2.40 2.44 2.47.50 llvm-23 mold)
real_machines=(x86_64 aarch64 s390x)
sqlite_flags=(-DSQLITE_THREADSAFE=1 -DSQLITE_ENABLE_FTS3 -DSQLITE_ENABLE_FTS5 -DSQLITE_ENABLE_RTREE -DSQLITE_ENABLE_JSON1
	-DSQLITE_ENABLE_SESSION -DSQLITE_ENABLE_PREUPDATE_HOOK -DSQLITE_ENABLE_COLUMN_METADATA -DSQLITE_ENABLE_STAT4 -DHAVE_USLEEP=1)

real() {
	[[ $* ]] || set -- "${all_real[@]}"
	fetch "$@"
	fetch_sources
	compile_real
	local toolchain machine
	for toolchain in "$@"; do
		for machine in "${real_machines[@]}"; do
			[[ " $(machines "$toolchain") " == *" $machine "* ]] || continue
			(real=$target/real out=$target/real/$toolchain/$machine && mkdir -p "$out" && real_library sqlite3 && real_library zlib)
		done
	done
	find "$target/real" -name '*.so' -exec du -h --apparent-size {} +
}

# Gets the sources in the same way as users of the crates.
fetch_sources() {
	local project=$target/real/sources
	[[ ! -d $project/vendor ]] || return 0
	mkdir -p "$project"
	printf '%s\n' '[package]' 'name = "sources"' 'version = "0.0.0"' '[lib]' 'path = "Cargo.toml"' '[workspace]' \
		'[dependencies]' 'libsqlite3-sys = "=0.30.1"' 'libz-sys = "=1.1.20"' >"$project/Cargo.toml"
	(cd "$project" && cargo vendor --quiet >/dev/null)
}

# Compiling takes most of the time and is done only once. The machines are compiled in parallel, because SQLite
# dominates.
compile_real() {
	local machine vendor=$target/real/sources/vendor file
	for machine in "${real_machines[@]}"; do
		local asm=$target/real/asm/$machine
		[[ ! -e $asm/.complete ]] || continue
		mkdir -p "$asm/sqlite3" "$asm/zlib"
		(
			real_cc "$vendor/libsqlite3-sys/sqlite3/sqlite3.c" "$asm/sqlite3" "${sqlite_flags[@]}"
			for file in "$vendor"/libz-sys/src/zlib/*.c; do
				real_cc "$file" "$asm/zlib" -DHAVE_UNISTD_H
			done
			touch "$asm/.complete"
		) &
	done
	wait
}

# real_cc FILE FOLDER FLAG...: compiles a file. The native compiler finds its headers in the cache, not in the system.
real_cc() {
	local file=$1 folder=$2 root=()
	shift 2
	[[ $machine != x86_64 ]] || root=(--sysroot="$cache/gcc-12")
	"$cache/gcc-12/bin/$machine-linux-gnu-gcc-12" "${root[@]}" -O2 -fPIC -S "$@" -o "$folder/$(basename "$file" .c).s" "$file"
}

# real_library NAME: assembles and links with $toolchain for $machine into $out.
real_library() {
	local name=$1 source objects=() scratch
	scratch=$(mktemp -d)
	rm -f "$out/$name.messages"
	for source in "$real/asm/$machine/$name"/*.s; do
		objects+=("$scratch/$(basename "$source" .s).o")
		real_as "$source" "${objects[-1]}" 2>>"$out/$name.messages"
	done
	[[ -s $out/$name.messages ]] || rm "$out/$name.messages"
	case $toolchain in
	llvm-23)
		[[ ${#objects[@]} -gt 1 ]] || "$cache/llvm-23/bin/ld.lld" -shared -o "$out/$name.so" "${objects[@]}"
		;;
	mold) "$cache/mold/bin/mold" -shared -o "$out/$name.so" "${objects[@]}" ;;
	*) gnu "$toolchain" "$machine" ld -shared -o "$out/$name.so" "${objects[@]}" ;;
	esac
	rm -r "$scratch"
}

real_as() {
	case $toolchain in
	llvm-23) "$cache/llvm-23/bin/llvm-mc" --gsframe -filetype=obj -triple x86_64-linux-gnu -o "$2" "$1" ;;
	mold) gnu 2.47.50 "$machine" as --gsframe -o "$2" "$1" ;;
	*) gnu "$toolchain" "$machine" as --gsframe -o "$2" "$1" ;;
	esac
}

# --- one file with 280,000 functions ----------------------------------------------------------------------------------

# Links many copies of SQLite and zlib. Their symbols are made local, so that the linker accepts the same objects any
# number of times.
big_copies=${SFRAME_BIG_COPIES:-120}

big() {
	[[ $* ]] || set -- 2.40 2.44 2.47.50
	fetch gcc-12 "$@"
	fetch_sources
	(real_machines=(x86_64) && compile_real)
	local toolchain
	for toolchain in "$@"; do
		(machine=x86_64 out=$target/real/$toolchain/x86_64 && mkdir -p "$out" && big_object)
	done
	du -h --apparent-size "$target"/real/*/x86_64/big.so
}

big_object() {
	local scratch source object inputs=() copy
	scratch=$(mktemp -d)
	for source in "$target/real/asm/$machine"/{sqlite3,zlib}/*.s; do
		object=$scratch/$(basename "$source" .s).o
		real_as "$source" "$object.global" 2>/dev/null
		gnu "$toolchain" "$machine" objcopy --wildcard --localize-symbol='*' "$object.global" "$object"
		inputs+=("$object")
	done
	local all=()
	for ((copy = 0; copy < big_copies; copy++)); do
		all+=("${inputs[@]}")
	done
	gnu "$toolchain" "$machine" ld -shared --strip-all -o "$out/big.so" "${all[@]}"
	forget_code "$out/big.so"
	rm -r "$scratch"
}

# Punches a hole into the code of a file, to save disk space. No test reads the instructions of this file.
forget_code() {
	local offset size
	read -r offset size < <(gnu "$toolchain" "$machine" readelf -SW "$1" | sed -E 's/^ *\[ *[0-9]+\] *//' | awk '$1 == ".text" { print $4, $5 }')
	fallocate --punch-hole --offset $((16#$offset)) --length $((16#$size)) "$1" 2>/dev/null || true
}
