# shellcheck shell=bash
# shellcheck disable=SC2154,SC2030,SC2031,SC2164 # sourced by ../build; each folder is made in a subshell
# shellcheck disable=SC2046,SC2086 # byte_order and emulation print a word or nothing; a command is a list of words
# Builds the golden files: every shape, with every toolchain, for every machine for which it supports SFrame.
#
# golden/TOOLCHAIN/MACHINE/SHAPE.KIND. Everything runs in a temporary folder with relative names, so that files contain
# no paths. Each function below lists the shapes of one kind; `keep FILE WHY` copies the result, with the commands that
# made it and the tools' messages.

all_golden=(2.40 2.44 2.47.50 llvm-23 lld gold mold)

golden() {
	local out=$1 name machine
	shift
	[[ $* ]] || set -- "${all_golden[@]}"
	fetch_available
	scratch=$(mktemp -d)
	trap 'rm -rf "$scratch"' EXIT
	compile_all
	assemble_all
	for name in "$@"; do
		golden_possible "$name" || continue
		rm -rf "${out:?}/$name"
		mkdir -p "$scratch/rows"
		for machine in $(golden_machines "$name"); do
			mkdir -p "$out/$name/$machine"
			log=$scratch/$name-$machine.log
			: >"$log"
			(toolchain=$name work=$scratch/$name/$machine out=$out/$name/$machine && begin_work && "golden_${name//[.-]/_}")
			expect "$out/$name/$machine" "$name" "$machine" <"$log" >>"$scratch/rows/$name"
		done
		echo "golden/$name: $(wc -l <"$scratch/rows/$name") files" >&2
	done
	write_manifest "$out" "$@"
}

# If the tools for a folder are not available, it stays unchanged, and a message says so.
golden_possible() {
	local tool
	case $1 in
	lld) set -- "$1" llvm-23 2.47.50 ;;
	gold) set -- "$1" 2.40 ;;
	mold) set -- "$1" mold 2.47.50 ;;
	*) set -- "$1" "$1" ;;
	esac
	for tool in "${@:2}"; do
		have "$tool" && continue
		echo "skipped: golden/$1: $tool is not available" >&2
		return 1
	done
}

golden_machines() {
	case $1 in
	lld | gold) echo x86_64 ;;
	*) machines "$1" ;;
	esac
}

# --- sources to assembly, once for all assemblers ---------------------------------------------------------------------

# Code is position independent, so that one object can be used in every kind of link. Options whose defaults differ
# between distributions are set explicitly.
compiler_flags=(-O2 -fPIC -ffreestanding -fasynchronous-unwind-tables -fno-ident -fno-stack-protector)

compile_all() {
	local machine
	for machine in x86_64 aarch64 aarch64_be s390x; do
		mkdir -p "$scratch/asm/$machine"
		compile leaf calls alloca realign cold externals program ifunc
		compile frame-pointer -- -fno-omit-frame-pointer
		compile cleanup -- -fexceptions
		compile sections -- -ffunction-sections
		compile throw
		compile_as comdat-a comdat -DNAME=first
		compile_as comdat-b comdat -DNAME=second
		cp "$corpus"/sources/*.s "$corpus/sources/${machine%_be}"/*.s "$scratch/asm/$machine"
		case $machine in aarch64*)
			compile_as pauth-a pauth -mbranch-protection=pac-ret
			compile_as pauth-b pauth -mbranch-protection=pac-ret+b-key -DNAME=key_b
			compile_as pauth-leaf pauth -mbranch-protection=pac-ret+leaf -DNAME=leaf
			;;
		esac
	done
}

# compile SOURCE... [-- FLAG...]
compile() {
	local sources=() source
	while [[ $# -gt 0 && $1 != -- ]]; do
		sources+=("$1")
		shift
	done
	shift || true
	for source in "${sources[@]}"; do
		compile_as "$source" "$source" "$@"
	done
}

# compile_as OBJECT SOURCE FLAG...: also records the command for the manifest.
compile_as() {
	local object=$1 source=$2 file driver=gcc flags=("${compiler_flags[@]}")
	shift 2
	file=$(cd "$corpus/sources" && echo "$source".c*)
	case $file in *.cc) driver=g++ ;; esac
	case $machine in
	x86_64) flags+=(-fcf-protection=none) ;;
	aarch64_be) flags+=(-mbig-endian) ;;
	esac
	flags+=("$@" -S "$file")
	(cd "$corpus/sources" && "$cache/gcc-12/bin/${machine%_be}-linux-gnu-$driver-12" "${flags[@]}" -o "$scratch/asm/$machine/$object.s")
	echo "$driver ${flags[*]} -o $object.s" >"$scratch/asm/$machine/$object.command"
}

# --- assembly to objects, once for each assembler ---------------------------------------------------------------------

assemble_all() {
	local version machine source object
	for version in 2.40 2.44 2.47.50 llvm-23; do
		have "$version" || continue
		for machine in $(machines "$version"); do
			mkdir -p "$scratch/objects/$version/$machine"
			for source in "$scratch/asm/$machine"/*.s; do
				object=$(basename "$source" .s)
				assemble "$version" "$machine" "$object" "$object"
			done
		done
	done
}

# assemble VERSION MACHINE SOURCE OBJECT: makes the object, and next to it files with the command and the assembler's
# messages.
assemble() {
	local version=$1 machine=$2 source=$3 object=$4 command
	case $version in
	llvm-23) command="llvm-mc --gsframe -filetype=obj -triple x86_64-linux-gnu" ;;
	*) command="as --gsframe $(byte_order "$machine")" ;;
	esac
	(
		cd "$scratch/objects/$version/$machine"
		ln -sf "$scratch/asm/$machine/$source.s" .
		command="${command% } -o $object.o $source.s"
		{ cat "$scratch/asm/$machine/$source.command" 2>/dev/null || true; echo "$command"; } >"$object.command"
		case $version in
		llvm-23) "$cache/$version/bin/"$command ;;
		*) gnu "$version" "$machine" $command ;;
		esac 2>"$object.messages"
	) || echo "golden: $version $machine $source: cannot be assembled" >&2
}

# --- helpers for recipes ----------------------------------------------------------------------------------------------

# Provides the objects of this toolchain's assembler for this machine; those of other assemblers are in v1/, v2/, v3/,
# llvm/.
begin_work() {
	local objects=$scratch/objects
	mkdir -p "$work"
	cd "$work"
	ln -s "$objects/2.40/$machine" v1
	ln -s "$objects/2.44/$machine" v2
	ln -s "$objects/2.47.50/$machine" v3
	ln -s "$objects/llvm-23/$machine" llvm
	: >commands
	: >messages
	if [[ -d $objects/$toolchain ]]; then
		cp "$objects/$toolchain/$machine"/*.o .
	fi
}

# Runs a tool of this toolchain by its plain name: as, ld, ar, strip, objcopy, gold, lld, mold.
run() {
	local tool=$1
	shift
	echo "$tool $*" >>commands
	case $tool in
	lld) "$cache/llvm-23/bin/ld.lld" "$@" ;;
	llc | llvm-mc) "$cache/llvm-23/bin/$tool" "$@" ;;
	mold) "$cache/mold/bin/mold" "$@" ;;
	gold) gnu 2.40 "$machine" ld.gold "$@" ;;
	*) gnu "$toolchain" "$machine" "$tool" "$@" ;;
	esac 2>>messages || {
		echo "$tool: exit status $?" | tee -a messages >failed
	}
}

ld() { run ld --build-id=none -z noexecstack $(emulation "$machine") "$@"; }
as() { run as --gsframe $(byte_order "$machine") "$@"; }

# keep FILE WHY. Files that the tools fail to make are listed in FAILED.tsv; their incomplete output is not kept.
keep() {
	local file=$1 why=$2 commands messages
	commands=$(one_line commands)
	messages=$(one_line messages)
	: >commands
	: >messages
	if [[ -e $file && ! -e failed ]]; then
		cp "$file" "$out/$file"
		printf '%s\t%s\t%s\t%s\n' "$file" "$why" "$commands" "${messages:--}" >>"$log"
	else
		printf '%s\t%s\t%s\t%s\n' "$toolchain/$machine/$file" "$why" "$commands" "${messages:--}" >>"$scratch/failed"
		rm -f "$file" failed
	fi
}

# keep_object NAME WHY: keeps an object made by assemble_all.
keep_object() {
	local made=$scratch/objects/$toolchain/$machine/$1
	[[ -e $made.command ]] || return 0
	cat "$made.command" >>commands
	cat "$made.messages" >>messages
	keep "$1.o" "$2"
}

# Joins messages into one line, without duplicates, and with the plain names of tools instead of their paths.
one_line() {
	sed -E "s#[^ ]*/ld-linux-x86-64.so.2: #ld: #g; s#^[^ ]*/bin/([a-z0-9_]*-linux-gnu-)?##; s#^[a-z0-9_]*-linux-gnu-##
		/Assembler messages:\$/d; /recipes\/[a-z]*.sh: line/d; s#[[:space:]]+#\ #g" "$1" | awk '!seen[$0]++' | head -12 | join_lines
}

join_lines() { paste -sd'|' | sed 's/|/ ; /g'; }

# Links with a small page size and with code next to data, because otherwise most of a small file would be padding. Some
# files have the default layout.
compact=(-z noseparate-code -z max-page-size=4096)
program=(program.o calls.o leaf.o frame-pointer.o alloca.o realign.o cleanup.o cold.o)

# --- the shapes -------------------------------------------------------------------------------------------------------

golden_2_40() { gnu_shapes; }
golden_2_44() { gnu_shapes; }
golden_2_47_50() { gnu_shapes; }
golden_llvm_23() { objects; }

gnu_shapes() {
	objects
	links
	plts
	after_the_link
	mixtures
}

objects() {
	keep_object leaf "functions without a frame"
	keep_object calls "calls, saved registers, early return"
	keep_object frame-pointer "the CFA moves to the frame pointer and back"
	keep_object realign "stack realigned; with stack arguments the CFA is reached through another register (V3: flexible entry)"
	keep_object alloca "run-time stack space; frames that need 2-byte and 4-byte offsets"
	keep_object cleanup "a landing pad, in C"
	keep_object throw "throw, catch, rethrow in C++; cold parts of landing pads"
	keep_object cold "a cold part in a section of its own"
	keep_object sections "a section for each function"
	keep_object comdat-a "a function in a COMDAT group"
	keep_object pauth-a "return addresses signed with key A"
	keep_object pauth-b "return addresses signed with key B"
	keep_object pauth-leaf "leaf functions signed too"
	keep_object signal "signal frames, describable or not"
	keep_object cfi "hand-written CFI: remember and restore, changes in place, odd offsets, simple, registers"
	keep_object outermost "undefined return address"
	keep_object edges "functions without bytes, and a rule that begins where the function ends"
	keep_object words "offsets around the limits of 1 and 2 bytes"
	keep_object sizes "function sizes around the limits of 1 and 2 bytes of row start"
	keep_object nothing-left "CFI, but nothing that can be described: V1 and V2 have a header without functions"
	keep_object bare "no CFI: no section"
}

links() {
	case $machine in
	aarch64_be) ld -static "${compact[@]}" -o static.exe "${program[@]}" ;;
	*) ld -static -o static.exe "${program[@]}" ;;
	esac
	keep static.exe "static; with the default layout, except where 64 KiB pages have been kept once already"
	ld -pie "${compact[@]}" -o pie.exe "${program[@]}"
	keep pie.exe "position independent program"
	ld -shared "${compact[@]}" -o shared.so "${program[@]}" externals.o
	keep shared.so "shared object, lazy PLT"
	ld -shared "${compact[@]}" -o throw.so throw.o
	keep throw.so "C++ exceptions in a shared object"
	ld -shared "${compact[@]}" -o handwritten.so cfi.o signal.o words.o
	keep handwritten.so "hand-written CFI after a link"
	ld -shared "${compact[@]}" -o edges.so edges.o leaf.o
	keep edges.so "functions without bytes, and a rule that begins where the function ends, after a link"
	ld -shared "${compact[@]}" -o outermost.so outermost.o
	keep outermost.so "undefined return addresses after a link"
	ld -shared "${compact[@]}" -o sizes.so sizes.o leaf.o
	keep sizes.so "all three sizes of row start after a link"
	ld -r -o relocatable.o calls.o cfi.o leaf.o
	keep relocatable.o "ld -r of three objects"
	ld -r -o relocatable-comdat.o comdat-a.o comdat-b.o leaf.o
	keep relocatable-comdat.o "ld -r that drops one of two COMDAT functions: R_*_NONE"
	ld -r -o relocatable-header-only.o nothing-left.o
	keep relocatable-header-only.o "ld -r of a header without functions"
	ld -shared "${compact[@]}" -o comdat.so comdat-a.o comdat-b.o
	keep comdat.so "one of two COMDAT functions dropped"
	ld -static "${compact[@]}" --gc-sections -e kept -o collected.exe sections.o program.o calls.o
	keep collected.exe "garbage-collected"
	ld -static "${compact[@]}" --gc-sections -e bare -o all-collected.exe bare.o sections.o
	keep all-collected.exe "every described function garbage-collected"
	case $machine in x86_64 | aarch64)
		ld -static "${compact[@]}" -o ifunc.exe ifunc.o "${program[@]}"
		keep ifunc.exe "indirect function in a static program: .iplt"
		;;
	esac
	case $machine in aarch64*)
		ld -shared "${compact[@]}" -o pauth.so pauth-a.o pauth-b.o pauth-leaf.o leaf.o
		keep pauth.so "unsigned and signed with both keys in one section"
		;;
	esac
}

plts() {
	ld -shared "${compact[@]}" -o plt.so externals.o calls.o
	keep plt.so "lazy PLT, and .plt.got for a function whose address is taken"
	ld -shared "${compact[@]}" -z now -o plt-now.so externals.o calls.o
	keep plt-now.so "PLT of a module that binds at start"
	case $machine in x86_64)
		ld -shared "${compact[@]}" -z ibtplt -o plt-ibt.so externals.o calls.o
		keep plt-ibt.so "PLT for indirect branch tracking: .plt.sec"
		ld -shared "${compact[@]}" -z ibtplt -z now -o plt-ibt-now.so externals.o calls.o
		keep plt-ibt-now.so "PLT for indirect branch tracking of a module that binds at start"
		ld -pie "${compact[@]}" -z lazy --unresolved-symbols=ignore-all -e uses -o plt-pie.exe externals.o shared.so
		keep plt-pie.exe "PLT of a program"
		ld -shared "${compact[@]}" -o plt-only.so externals.o bare.o --no-ld-generated-unwind-info
		keep plt-only.so "PLT without the linker's own unwind data"
		;;
	esac
}

after_the_link() {
	run strip -o stripped.so shared.so
	keep stripped.so "shared.so without its symbol table"
	run objcopy --only-keep-debug shared.so debug-only.so
	keep debug-only.so "what objcopy --only-keep-debug makes of shared.so: the section has no bytes"
	run strip -o stripped.o relocatable.o
	keep stripped.o "relocatable.o stripped"
	run ar rcsD archive.a leaf.o calls.o bare.o cfi.o
	keep archive.a "an archive; one member has no section"
}

mixtures() {
	run as $(byte_order "$machine") -o plain.o "$scratch/asm/$machine/leaf.s"
	: >commands
	ld -static "${compact[@]}" -o mixed.exe program.o calls.o plain.o
	keep mixed.exe "one input (leaf.s assembled without --gsframe) has no section"
	case $toolchain in
	2.44)
		mixture 1-into-2 v1/leaf.o
		mixture 3-into-2 v3/leaf.o
		mixture llvm-into-2 llvm/leaf.o
		;;
	2.47.50)
		mixture 1-into-3 v1/leaf.o
		mixture 2-into-3 v2/leaf.o
		mixture llvm-into-3 llvm/leaf.o
		;;
	esac
}

# mixture NAME OBJECT: links an object of another version with this toolchain's, as the last input and as the first.
mixture() {
	[[ -e $2 ]] || return 0
	ld -static "${compact[@]}" -o "mixed-$1.exe" program.o calls.o "$2"
	keep "mixed-$1.exe" "an object of another SFrame version, last"
	ld -static "${compact[@]}" -o "mixed-$1-first.exe" "$2" program.o calls.o
	keep "mixed-$1-first.exe" "an object of another SFrame version, first"
}

# Files linked by lld and gold, which append the sections of the inputs to each other.
golden_lld() {
	other_linker lld llvm/ "SFrame 2 from LLVM"
	other_linker lld v3/ "SFrame 3" v3-
	other_linker lld v2/ "SFrame 2 from GNU as 2.44" v2-
}

golden_gold() {
	other_linker gold v1/ "SFrame 1" v1-
	other_linker gold v2/ "SFrame 2" v2-
	other_linker gold v3/ "SFrame 3" v3-
}

golden_mold() {
	local small=(-z noseparate-code)
	case $machine in x86_64) small+=(-z ibtplt) ;; esac
	other_linker mold v3/ "SFrame 3"
	run mold --build-id=none "${small[@]}" -shared -o handwritten.so v3/cfi.o v3/signal.o v3/words.o
	keep handwritten.so "hand-written CFI"
	run mold --build-id=none -shared -o throw.so v3/throw.o
	keep throw.so "C++ exceptions"
	run mold --build-id=none -shared -o comdat.so v3/comdat-a.o v3/comdat-b.o
	keep comdat.so "one of two COMDAT functions dropped"
	run mold --build-id=none -static --gc-sections -e bare -o all-collected.exe v3/bare.o v3/sections.o
	keep all-collected.exe "every described function garbage-collected"
	run mold --build-id=none -shared -o sizes.so v3/sizes.o v3/leaf.o
	keep sizes.so "all three sizes of row start"
	case $machine in x86_64)
		run mold --build-id=none -static -o mixed.exe v3/program.o v3/calls.o v2/leaf.o llvm/alloca.o
		keep mixed.exe "SFrame 2 objects among SFrame 3 ones"
		;;
	esac
	case $machine in aarch64)
		run mold --build-id=none -shared -o pauth.so v3/pauth-a.o v3/pauth-b.o v3/leaf.o
		keep pauth.so "unsigned and signed with both keys in one section"
		;;
	esac
}

# other_linker LINKER OBJECTS WHAT [PREFIX]
other_linker() {
	[[ -e $2/program.o ]] || return 0
	local linker=$1 objects=("${program[@]/#/$2}") what=$3 prefix=${4:-} no_id=--build-id=none
	run "$linker" $no_id -static -o "${prefix}static.exe" "${objects[@]}"
	keep "${prefix}static.exe" "$what, static"
	run "$linker" $no_id -shared -o "${prefix}shared.so" "${objects[@]}" "$2externals.o"
	keep "${prefix}shared.so" "$what, shared"
	run "$linker" $no_id -r -o "${prefix}relocatable.o" "$2calls.o" "$2cfi.o" "$2leaf.o"
	keep "${prefix}relocatable.o" "$what, -r"
	run "$linker" $no_id -static --gc-sections -e kept -o "${prefix}collected.exe" "$2sections.o" "$2program.o" "$2calls.o"
	keep "${prefix}collected.exe" "$what, garbage-collected"
}
