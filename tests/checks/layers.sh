#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Who may include whom: a file includes its own module (the directory below src/), modules with lower numbers, and public
# headers of those. Kernels (*_kernels.*) see plain types only: other kernels, lists (.def), arithmetic on scalars, and
# the headers in plain below.
. "$(dirname "$0")/lib.sh"

layers='base=0 storage=1 engine=1 math=2 image=3 resource=3 ndarray=4 operator=5 simpleop=6 symbol=7 executor=8 autograd=9 optimizer=9
    io=9 rewrite=10 kvstore=10 train=11 predict=12 compat=13
    <export>=base <status>=base <types>=base <dtype>=base <param>=base <log>=base <trace>=base <version>=base
    <storage>=storage <engine>=engine <random>=resource <ndarray>=ndarray <dlpack>=ndarray <op>=operator <image>=image
    <half>=base <philox>=math <kernel>=operator <simpleop>=simpleop <symbol>=symbol <executor>=executor <autograd>=autograd <cached_op>=autograd <optimizer>=optimizer <kvstore>=kvstore <recordio>=io <io>=io
    <train>=train <quantize>=rewrite <predict>=predict'
plain='stddef.h stdint.h stdbool.h string.h math.h float.h limits.h immintrin.h cblas.h mxc/types.h mxc/half.h mxc/philox.h
    base/simd.h base/simd_wide.h base/size.h math/distributions.h math/fastmath.h math/for_types.inc math/for_vectors.inc
    math/index.h math/loop.h math/scalar_math.h math/sort_key.h image/resample_weights.h'

check() {
    (cd "$1" && sources . src include | sed '/^src.cuda./d' | xargs -r grep -Hn '^[ \t]*#[ \t]*include') |
        awk -F: -v layers="$layers" -v plain="$plain" '
        BEGIN {
            n = split(layers, item, /[ \n]+/)
            for (i = 1; i <= n; i++) { split(item[i], pair, "="); value[pair[1]] = pair[2] }
            n = split(plain, item, /[ \n]+/)
            for (i = 1; i <= n; i++) is_plain[item[i]] = 1
        }
        # Folder that owns an included file: "" for the system, "?" for one of ours that nobody knows.
        function owner(path, quoted,    name) {
            if (quoted) { name = path; sub(/\/.*/, "", name); return path ~ /\// && (name in value) ? name : "?" }
            if (path !~ /^mxc\//) return ""
            name = path; gsub(/^mxc\/|\.(h|def)$/, "", name); name = "<" name ">"
            return name in value ? value[name] : "?"
        }
        function wrong(why) { printf "%s:%d: includes %s: %s\n", $1, $2, path, why }
        {
            if (!match($0, /["<][^">]*[">]/)) next
            quoted = substr($0, RSTART, 1) == "\""
            path = substr($0, RSTART + 1, RLENGTH - 2)
            file = $1; sub(/^\.\//, "", file)
            split(file, part, "/")
            me = part[1] == "src" ? part[2] : owner(substr(file, 9), 0)
            to = owner(path, quoted)
            if (file == "include/mxc/mxc.h" || me == "compat" && path == "mxc/mxc.h") next
            if (!(me in value)) wrong(me " has no number in tests/checks/layers.sh")
            else if (to == "?") wrong(quoted ? "write the path from src/, as \"base/sys.h\"" : "no module has this header")
            else if (part[1] == "include" && quoted) wrong("public headers include with <mxc/...>")
            else if (me == "compat" && quoted && to != me) wrong("the adapter sees public headers only")
            else if (to != "" && to != me && value[to] >= value[me]) wrong(me " may not see " to)
            else if (file ~ /_kernels\.(c|h|inc)$/ && path !~ /_kernels\.(h|inc)$/ && path !~ /\.def$/ && !(path in is_plain))
                wrong("kernels see plain types only")
        }'
}

samples() {
    must_find src/engine/a.c <<<'#include "storage/pool.h"'
    must_find src/base/a.c <<<'  #  include "engine/engine.h"'
    must_find src/base/a.h <<<'#include <mxc/ndarray.h>'
    must_find src/io/a.c <<<'#include "kvstore/local.h"'
    must_find src/io/a.c <<<'#include "reader.h"'
    must_find src/io/a.c <<<'#include <mxc/mxc.h>'
    must_find src/novel/a.c <<<'#include "base/sys.h"'
    must_find src/operator/nn/a_kernels.c <<<'#include "base/sys.h"'
    must_find src/operator/nn/a_kernels.inc <<<'#include <stdlib.h>'
    must_find include/mxc/engine.h <<<'#include <mxc/ndarray.h>'
    must_find include/mxc/engine.h <<<'#include "base/sys.h"'
    must_find src/compat/a.c <<<'#include "base/sys.h"'
    must_pass src/io/a.c <<<'#include "io/reader.h"
#include <zlib.h>
#include "base/sys.h"
#include <mxc/ndarray.h>'
    must_pass src/operator/nn/a_kernels.c <<<'#include "math/gemm_kernels.h"
#include <math.h>
#include <mxc/half.h>'
    must_pass src/compat/a.c <<<'#include <mxc/mxc.h>
#include "compat/mxnet.h"'
    must_pass include/mxc/op.h <<<'#include <mxc/ndarray.h>'
}

main "$@"
