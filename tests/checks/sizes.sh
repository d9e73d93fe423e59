#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Sizes are computed by src/base/size.h, where they cannot wrap. Elsewhere in src/, nothing rounds up to 64 bytes or
# asks the compiler for overflow by itself; no count of a shape's elements is multiplied by hand; and functions that
# return bytes (size_t, named ..._bytes, ..._temp, ..._scratch or ..._room) multiply by constants only.
. "$(dirname "$0")/lib.sh"

# Not sizes of arrays: the adapter's own buffers, bits in words, the padding that the .npy format asks for and digits of a number, lists of tasks.
others='src/(base/size\.h|compat/sys\.c|symbol/worklist\.c|ndarray/npy_header\.c|engine/.*)'

gpu() { (cd "$1" && if [ -d src/cuda ]; then find src/cuda -name '*.cu' | sort; fi) }

check() {
    local file
    { sources "$1" src; gpu "$1"; } | sed -E "\\#^($others)\$#d" | while read -r file; do
        code "$1/$file" | awk -v file="$file" '
        function wrong(why) { printf "%s:%d: %s: use base/size.h\n", file, NR, why }
        /\+ 63\) *(&|\/)/ { wrong("rounds up to 64 by hand") }
        /__builtin_(add|mul)_overflow/ { wrong("checks overflow by hand") }
        /(shape_size|shape_count|tensor_size)\([^()]*\)\)? \* (\(int64_t\))?(sizeof|mxc_dtype_size)/ {
            wrong("multiplies a count of elements by hand")
        }
        /^(static |inline )*size_t [a-z_0-9]*(bytes|temp|scratch|room)\(/ { inside = 1 }
        inside && /[A-Za-z0-9_)\]] \* [(A-Za-z_]/ && !/(^|[^A-Za-z0-9_])[0-9]+ \* / { wrong("multiplies sizes by hand") }
        /^}/ { inside = 0 }'
    done
}

samples() {
    must_find src/io/a.c <<<'    return (bytes + 63) & ~(size_t)63;'
    must_find src/operator/kernels/a.inc <<<'    n = (n + 63) / 64 * 64;'
    must_find src/ndarray/a.c <<<'    if (__builtin_mul_overflow(a, b, &c))'
    must_find src/operator/a.c <<<'    x = (size_t)mxc_shape_size(shape) * mxc_dtype_size(type);'
    must_find src/operator/a.h <<<'    x = (size_t)mxci_shape_count(shape, 1, 3) * sizeof(float);'
    must_find src/operator/a.c <<<'static size_t temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    return n * sizeof(double);
}'
    must_find src/cuda/a.cu <<<'size_t mxci_gemm_temp(int64_t m, int64_t n) {
    return (size_t)(m * n) * 8;
}'
    must_pass src/base/size.h <<<'    return (bytes + 63) & ~(size_t)63;'
    must_pass src/operator/a.c <<<'static size_t temp_bytes(const mxc_op_sig *sig, mxc_pass pass) {
    const char *name = (char *)sig; /* n * size */
    return mxci_size_of(mxci_dim_mul(n, 3 * width), 2 * sizeof(double));
}
static size_t other(size_t a, size_t b) {
    return a * b;
}'
}

main "$@"
