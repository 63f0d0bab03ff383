#!/bin/bash -eu
# What ClusterFuzzLite asks for is what OSS-Fuzz asks for.
exec "$SRC/sframe-check/fuzz/oss-fuzz/build.sh"
