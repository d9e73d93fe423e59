#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# levels.sh [libmxc.a]: outside of the kernels' faster levels, the release library has none of the instructions that need
# more than any x86-64 processor, so that it loads on all of them. Other processors' libraries are not looked at.
. "$(dirname "$0")/lib.sh"

# What the faster levels may use: all names in v but verr and verw (AVX, FMA, F16C), masks, BMI, LZCNT, MOVBE, SSE3 to 4.
newer='v[a-df-z][a-z0-9]*|k(add|and|mov|or|not|shift|test|unpck|x)[a-z]*|andn|bextr|bls[a-z]+|bzhi|mulx|pdep|pext|rorx'
newer+='|s(ar|hl|hr)x|lzcnt|movbe|popcnt|crc32[a-z]*|pshufb|palignr|p(max|min)(sb|sd|uw|ud)|pmulld|pmov[sz]x[a-z]+|round[ps][sd]'
newer+='|blendv?p[sd]|pblend[a-z]+|dpp[sd]|h(add|sub)p[sd]|addsubp[sd]|p(ins|ext)r[bdq]|insertps|extractps|pcmp(eq|gt)q|ptest'

check() {
    local library=$1
    [ -d "$library" ] && library=$library/build/release/libmxc.a
    [ -r "$library" ] || { echo "$library: not there; build it first"; return; }
    objdump -d --no-show-raw-insn "$library" | awk -v newer="^($newer)$" '
        /file format/ { member = $1; sub(/:$/, "", member); skip = member ~ /^avx[0-9a-z]+\.o$/ || !/x86-64/ }
        /^[0-9a-f]+ <.*>:$/ { name = $2 }
        !skip && /^ / && $2 ~ newer && !told[member name]++ { printf "%s: %s has %s\n", member, name, $2 }'
}

# member NAME TEXT ARCHIVE: an object of the program TEXT becomes NAME in the archive
member() {
    cc -O1 -mavx2 -mfma -mpopcnt -x c -c -o "$scratch/$1" - <<<"$2"
    ar rc "$scratch/$3.a" "$scratch/$1"
}

# finds NAME TEXT: the findings in the archive contain TEXT; an empty TEXT: there are none
finds() {
    local found
    found=$(check "$scratch/$1.a")
    if [ -n "$2" ] && grep -qF "$2" <<<"$found"; then return; fi
    if [ -n "$2$found" ]; then
        echo "levels.sh --self-test: $1: wanted '$2', found '$found'"
        failed=1
    fi
}

samples() {
    [ "$(uname -m)" = x86_64 ] || return 0
    member avx2.o 'float a(float x, float y) { return x * y + 1; }' level
    member plain.c.o 'int b(int x) { return x + 1; }' level
    member plain.c.o 'float c(float x, float y) { return x * y + 1; }' avx
    member plain.c.o 'int d(unsigned x) { return __builtin_popcount(x); }' popcnt
    finds level ''
    finds avx 'plain.c.o: <c>: has v'
    finds popcnt 'plain.c.o: <d>: has popcnt'
}

main "$@"
