# shellcheck shell=bash disable=SC2154 # sourced by ../build, which sets corpus and cache
# Functions for running the tools: their paths, arguments and versions.

# Compiling uses the same compiler everywhere; reading uses GNU tools of all versions, and llvm-readobj.
fetch() {
	"$corpus/toolchains/fetch" "$cache" gcc-12 "$@"
}

# Golden files can be rebuilt without some of the toolchains; missing ones are reported.
fetch_available() {
	local name
	fetch
	for name in "${all_toolchains[@]}"; do
		fetch "$name" || echo "missing: $name cannot be fetched" >&2
	done
}

have() { [[ -e $cache/$1/.complete ]]; }

# gnu VERSION MACHINE TOOL ARGUMENTS...
gnu() {
	local version=$1 machine=${2%_be} tool=$3
	shift 3
	"$cache/$version/bin/$machine-linux-gnu-$tool" "$@"
}

# Prints the option of `as` for the byte order of a machine.
byte_order() {
	case $1 in *_be) echo -EB ;; esac
}

# GNU ld selects the big-endian AArch64 emulation only by name.
emulation() {
	case $1 in aarch64_be) echo -maarch64linuxb ;; esac
}

# Prints the machines for which a toolchain supports SFrame.
machines() {
	case $1 in
	2.40 | 2.44) echo x86_64 aarch64 aarch64_be ;;
	2.47.50) echo x86_64 aarch64 aarch64_be s390x ;;
	llvm-23) echo x86_64 ;;
	mold) echo x86_64 aarch64 s390x ;;
	esac
}

# Prints the exact version of a toolchain, from its own tools.
version() {
	local tool
	tool=$(awk -v name="$1" '$1 == name { print $3 }' "$corpus/toolchains/list")
	"$cache/$1/bin/$tool" --version | awk 'match($0, / [0-9]+\.[0-9]+[0-9.]*/) && !found { print substr($0, RSTART + 1, RLENGTH - 1); found = 1 }'
}
