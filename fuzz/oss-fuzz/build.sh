#!/bin/bash -eu
# Fuzz targets, seed corpora, dictionaries and options into $OUT, as OSS-Fuzz and ClusterFuzzLite ask for them. The sources
# are in $SRC/sframe-check, intermediate files in $WORK; cargo is nightly's, and has `cargo fuzz`.
#
# `readers` is built like all others but not put into $OUT: what it compares with is not on the machines that fuzz.

cd "$SRC/sframe-check"
export CARGO_TARGET_DIR=$WORK/target
# The workspace's link-time optimisation makes instrumented builds slow.
export CARGO_PROFILE_RELEASE_LTO=off

# A tool of this build machine, which needs no instrumentation: neither of Rust, nor of the C libraries that it is linked with.
RUSTFLAGS='' CFLAGS='' CXXFLAGS='' cargo run -p sframe-fuzz --bin seeds -- "$WORK/seeds"

for source in fuzz/fuzz_targets/*.rs; do
	target=$(basename "$source" .rs)
	cargo fuzz build -O --debug-assertions "$target"
	[[ $target != readers ]] || continue
	cp "$CARGO_TARGET_DIR/x86_64-unknown-linux-gnu/release/$target" "$OUT/"
	(cd "$WORK/seeds/$target" && find . -type f | sort | zip -q -X -@ "$OUT/${target}_seed_corpus.zip")
	for extra in dict options; do
		[[ ! -e fuzz/dictionaries/$target.$extra ]] || cp "fuzz/dictionaries/$target.$extra" "$OUT/"
	done
done
