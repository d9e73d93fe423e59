#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh: compiles the kernels for aarch64 with Debian's cross compiler, links kernels.c with them, and runs it under
# qemu-aarch64. No other part of libmxc, since its dependencies are not there for that processor.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

{ echo tests/aarch64/kernels.c; find src -name '*_kernels.c'; } | xargs -P "$(nproc)" -I{} sh -c 'aarch64-linux-gnu-gcc \
    -std=gnu11 -O1 -ftree-vectorize -DNDEBUG -Iinclude -Isrc -Wall -Wextra -Wpedantic -Werror -Wno-psabi \
    -ffp-contract=fast -fno-math-errno -fno-trapping-math -c -o "$1/$(basename "$2").o" "$2"' sh "$scratch" {}
aarch64-linux-gnu-gcc -o "$scratch/kernels" "$scratch"/*.o -lm
qemu-aarch64 -L /usr/aarch64-linux-gnu "$scratch/kernels"
