#!/bin/bash -eu
# Builds fuzz targets, seed corpora, dictionaries and options into $OUT, as OSS-Fuzz and ClusterFuzzLite require. The
# sources are in $SRC/sframe-check, and intermediate files go to $WORK; cargo must be nightly, with `cargo fuzz`.
#
# `readers` is built too, but not copied to $OUT: the program that it compares with is not available on fuzzing
# machines.

cd "$SRC/sframe-check"
export CARGO_TARGET_DIR=$WORK/target
# The workspace's link-time optimisation makes instrumented builds slow.
export CARGO_PROFILE_RELEASE_LTO=off

# A tool that runs on the build machine, so neither its Rust code nor the C libraries linked with it need
# instrumentation.
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
