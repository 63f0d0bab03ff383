#!/bin/bash -eu
# ClusterFuzzLite has the same requirements as OSS-Fuzz.
exec "$SRC/sframe-check/fuzz/oss-fuzz/build.sh"
