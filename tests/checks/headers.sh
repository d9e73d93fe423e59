#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every public header stands alone, twice over, as C99, C11, C++11 and C++17 without a warning, and an FFI generator can read
# it; those for C++ alone (.hpp) as C++11 and C++17.
. "$(dirname "$0")/lib.sh"

check() {
    local header name standard
    for header in "$1"/include/mxc/*.h; do
        name=include/mxc/$(basename "$header")
        compile "$1" "$name" "${CC:-cc}" c c99
        compile "$1" "$name" "${CC:-cc}" c c11
        compile "$1" "$name" "${CXX:-c++}" c++ c++11
        compile "$1" "$name" "${CXX:-c++}" c++ c++17
        grep -n '^MXC_API mxc_status' "$header" |
            sed "s|^\([0-9]*\):.*|$name:\1: a status without MXC_MUST_CHECK: it can be forgotten unseen|" || true
        code "$header" | grep -nE '\b(_Atomic|_Generic|restrict|_Static_assert|typeof)\b|^ +[a-z_0-9 ]+ [a-z_0-9]+ ?: ?[0-9]+;' |
            sed "s|^\([0-9]*\):.*|$name:\1: not in the subset that every language binding reads|" || true
    done
    for header in "$1"/include/mxc/*.hpp; do
        [ -e "$header" ] || continue
        compile "$1" "include/mxc/$(basename "$header")" "${CXX:-c++}" c++ c++11
        compile "$1" "include/mxc/$(basename "$header")" "${CXX:-c++}" c++ c++17
    done
    if [ -e "$1/include/mxc/op.h" ]; then
        own_operator_compiles "$1" "${CC:-cc}" c c11 own_op.c
        own_operator_compiles "$1" "${CXX:-c++}" c++ c++20 own_op.c
        for standard in 11 14 17 20; do
            own_operator_compiles "$1" "${CXX:-c++}" c++ c++$standard own_op.cpp
        done
    fi
    if [ -e "$1/include/mxc/status.h" ]; then
        unused_is_seen "$1" "${CC:-cc}" c c11
        unused_is_seen "$1" "${CXX:-c++}" c++ c++17
    fi
}

# own_operator_compiles ROOT COMPILER LANGUAGE STANDARD FILE: the descriptor of a program's own operator.
own_operator_compiles() {
    "$2" -x "$3" -std="$4" -Wall -Wpedantic -Werror -I"$1/include" -fsyntax-only "$here/tests/install/$5" 2>&1 |
        sed "s|^|include/mxc/op.h:1: as $4: |" || true
}

# unused_is_seen ROOT COMPILER LANGUAGE STANDARD: a status that is not used draws a warning, one ignored on purpose none.
unused_is_seen() {
    local program='#include <mxc/status.h>
void mxc_test(void) { %s; }'
    # shellcheck disable=SC2059
    printf "$program" 'mxc_fail_at("", 0, MXC_EIO, "x")' |
        "$2" -x "$3" -std="$4" -I"$1/include" -S -o /dev/null - 2>&1 | grep -q Wunused-result ||
        echo "include/mxc/export.h:1: as $4: no warning of a status that is not used"
    # shellcheck disable=SC2059
    printf "$program" 'MXC_IGNORE(mxc_fail_at("", 0, MXC_EIO, "x"))' |
        "$2" -x "$3" -std="$4" -Wall -Wextra -Wpedantic -Werror -I"$1/include" -fsyntax-only - 2>&1 |
        sed "s|^|include/mxc/status.h:1: as $4: |" || true
}

# compile ROOT HEADER COMPILER LANGUAGE STANDARD
compile() {
    local text="#include <${2#include/}>"
    printf '%s\n%s\nextern int mxc_header_test;\n' "$text" "$text" |
        "$3" -x "$4" -std="$5" -Wall -Wextra -Wpedantic -Werror -I"$1/include" -fsyntax-only - 2>&1 |
        sed "s|^|$2:1: as $5: |" || true
}

samples() {
    must_find include/mxc/a.h <<<'size_t mxc_a(void);'
    must_find include/mxc/a.h <<<'extern int mxc_a[]; int mxc_b(int new);'
    must_find include/mxc/a.h <<<'enum { A = 1, B = 2, };
struct a { int x; }; '
    must_find include/mxc/a.h <<<'#ifndef A
#define A
struct a {
    unsigned flag : 1;
};
#endif'
    must_find include/mxc/a.h <<<'#define MXC_API extern
typedef int mxc_status;
MXC_API mxc_status mxc_a(void);'
    must_find include/mxc/status.h <<<'#define MXC_EIO 1
#define MXC_IGNORE(expr) (void)(expr)
extern int mxc_fail_at(const char *file, int line, int code, const char *format, ...);'
    must_pass include/mxc/a.h <<<'#ifndef A
#define A
#include <stddef.h>
struct a {
    size_t size;
};
#endif'
}

main "$@"
