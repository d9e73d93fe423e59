#!/bin/bash
# Every public header stands alone, twice over, as C99, C11 and C++17 without a warning, and an FFI generator can read it.
. "$(dirname "$0")/lib.sh"

check() {
    local header name
    for header in "$1"/include/mxc/*.h; do
        name=include/mxc/$(basename "$header")
        compile "$1" "$name" "${CC:-cc}" c c99
        compile "$1" "$name" "${CC:-cc}" c c11
        compile "$1" "$name" "${CXX:-c++}" c++ c++17
        code "$header" | grep -nE '\b(_Atomic|_Generic|restrict|_Static_assert|typeof)\b|^ +[a-z_0-9 ]+ [a-z_0-9]+ ?: ?[0-9]+;' |
            sed "s|^\([0-9]*\):.*|$name:\1: not in the subset that every language binding reads|" || true
    done
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
    must_pass include/mxc/a.h <<<'#ifndef A
#define A
#include <stddef.h>
struct a {
    size_t size;
};
#endif'
}

main "$@"
