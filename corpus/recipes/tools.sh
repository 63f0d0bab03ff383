# shellcheck shell=bash disable=SC2154 # sourced by ../build, which sets corpus and cache
# The tools: where they are, how they are called, what they call themselves.

# Compiling takes the same compiler everywhere; reading takes GNU tools of all versions, and llvm-readobj.
fetch() {
	"$corpus/toolchains/fetch" "$cache" gcc-12 "$@"
}

# For the golden files one toolchain less is better than none at all; what is missing is said.
fetch_what_can_be_had() {
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

# What `as` and `ld` have to be told about a machine.
byte_order() {
	case $1 in *_be) echo -EB ;; esac
}

# GNU ld knows the big-endian AArch64 emulation by name only.
emulation() {
	case $1 in aarch64_be) echo -maarch64linuxb ;; esac
}

# The machines a toolchain has SFrame for.
machines() {
	case $1 in
	2.40 | 2.44) echo x86_64 aarch64 aarch64_be ;;
	2.47.50) echo x86_64 aarch64 aarch64_be s390x ;;
	llvm-23) echo x86_64 ;;
	mold) echo x86_64 aarch64 s390x ;;
	esac
}

# The exact version of a toolchain, as its tools print it.
version() {
	local tool
	tool=$(awk -v name="$1" '$1 == name { print $3 }' "$corpus/toolchains/list")
	"$cache/$1/bin/$tool" --version | awk 'match($0, / [0-9]+\.[0-9]+[0-9.]*/) && !said { print substr($0, RSTART + 1, RLENGTH - 1); said = 1 }'
}
