#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# symbols.sh [libmxc.so]: the release library exports mxc_* only, imports nothing that ends or interrupts the process or
# writes to stdout, needs no other libraries than it says, and takes little of the room for variables per thread that is left
# when a program loads it late (the C library keeps about 1,600 bytes for all such libraries).
. "$(dirname "$0")/lib.sh"

forbidden='abort|exit|_exit|_Exit|quick_exit|printf|vprintf|puts|putchar|putchar_unlocked|__printf_chk|__vprintf_chk'
forbidden+='|stdout|signal|sigaction|sigprocmask|raise|kill|system|__assert_fail|__assert|__assert_perror_fail'
needed='libc\.so\.6|libm\.so\.6|libpthread\.so\.0|ld-linux[-a-z0-9_]*\.so\.[0-9]|libopenblas\.so\.0|libjansson\.so\.4|libz\.so\.1'
needed+='|libturbojpeg\.so\.0|libpng16\.so\.16'

check() {
    local so=$1 thread
    [ -d "$so" ] && so=$so/build/release/libmxc.so
    [ -r "$so" ] || { echo "$so: not there; build it first"; return; }
    nm -D --defined-only "$so" | awk '$3 !~ /^mxc_/ { print "exports " $3 }'
    nm -D --undefined-only "$so" | awk '{ sub(/@.*/, "", $2); print $2 }' | grep -xE "$forbidden" | sed 's/^/imports /' || true
    readelf -d "$so" | awk -F'[][]' '/\(NEEDED\)/ { print $2 }' | grep -vxE "$needed" | sed 's/^/needs /' || true
    thread=$(readelf -lW "$so" | awk '$1 == "TLS" { print $6 }')
    ((${thread:-0} <= 1024)) || echo "takes $((thread)) bytes per thread, at most 1024"
    readelf -d "$so" | grep -q 'SONAME.*\[libmxc\.so\.0\]' || echo "$so: SONAME is not libmxc.so.0"
}

# library NAME [FLAG]...: a shared library of the program on stdin
library() {
    cc -shared -fPIC -x c -o "$scratch/$1.so" - -Wl,-soname,libmxc.so.0 "${@:2}"
}

# finds NAME TEXT: the library's findings contain TEXT; an empty TEXT: there are none
finds() {
    local found
    found=$(check "$scratch/$1.so")
    if [ -n "$2" ] && grep -qF "$2" <<<"$found"; then return; fi
    if [ -n "$2$found" ]; then
        echo "symbols.sh --self-test: $1: wanted '$2', found '$found'"
        failed=1
    fi
}

samples() {
    library good <<<'int mxc_a(void) { return 1; }'
    library export <<<'int other(void) { return 1; }'
    library abort <<<'#include <stdlib.h>
void mxc_a(void) { abort(); }'
    library print <<<'#include <stdio.h>
void mxc_a(void) { printf("%d", 1); }'
    library assert <<<'#include <assert.h>
void mxc_a(int x) { assert(x); }'
    library needs -Wl,--no-as-needed -ldl -l:libgcc_s.so.1 <<<'int mxc_a(void) { return 1; }'
    library soname -Wl,-soname,other.so <<<'int mxc_a(void) { return 1; }'
    library threads <<<'_Thread_local char mxc_a[1025];'
    finds good ''
    finds export 'exports other'
    finds abort 'imports abort'
    finds print 'imports printf'
    finds assert 'imports __assert_fail'
    finds needs 'needs libgcc_s.so.1'
    finds soname SONAME
    finds threads 'bytes per thread'
}

main "$@"
