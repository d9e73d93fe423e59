#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every public header stands alone, twice over, as C99, C11, C++11 and C++17 without a warning, and an FFI generator can read
# it; those for C++ alone (.hpp) as C++11 and C++17, and mxc.hpp and what it includes as C++17 and C++20, which refuse older
# standards and -fno-exceptions in words. The classes of mxc.hpp own every kind of handle.
. "$(dirname "$0")/lib.sh"

check() {
    local header name standard
    for header in "$1"/include/mxc/*.h; do
        [ -e "$header" ] || continue
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
    for header in "$1"/include/mxc/*.hpp "$1"/include/mxc/cpp/*.hpp; do
        [ -e "$header" ] || continue
        name=${header#"$1"/}
        case $name in
            include/mxc/mxc.hpp)
                compile "$1" "$name" "${CXX:-c++}" c++ c++17
                compile "$1" "$name" "${CXX:-c++}" c++ c++20
                ! command -v clang++ >/dev/null || compile "$1" "$name" clang++ c++ c++17
                refuses "$1" "$name" 'needs C++17' -std=c++14
                refuses "$1" "$name" 'without -fno-exceptions' -std=c++17 -fno-exceptions
                owns_handles "$1"
                ;;
            include/mxc/cpp/* | include/mxc/operators.hpp) compile "$1" "$name" "${CXX:-c++}" c++ c++17 ;;
            *)
                compile "$1" "$name" "${CXX:-c++}" c++ c++11
                compile "$1" "$name" "${CXX:-c++}" c++ c++17
                ;;
        esac
    done
    if [ -e "$1/include/mxc/op.h" ]; then
        classes_compile "$1"
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

# classes_compile ROOT: programs of the classes for C++ by clang++ too, and with more warnings.
classes_compile() {
    local file
    command -v clang++ >/dev/null || return 0
    for file in "$1"/examples/cpp/*.cpp "$1"/tests/cpp/*.cpp; do
        ! grep -qs '"settings.inc"' "$file" || continue # which the build makes
        if [ -e "$file" ] && { [[ $file != */tests/* ]] || echo '#include <cmocka.h>' | cc -E - >/dev/null 2>&1; }; then
            clang++ -std=c++17 -Wall -Wextra -Wpedantic -Wshadow -Werror -DMXC_SOURCE_DIR='""' "-I$1/include" "-I$1/tests" \
                -fsyntax-only "$file" 2>&1 | sed "s|^|${file#"$1"/}:1: by clang++: |" || true
        fi
    done
}

# refuses ROOT HEADER TEXT OPTION...: the first error of the compiler has TEXT
refuses() {
    local said
    said=$(echo "#include <${2#include/}>" | "${CXX:-c++}" -x c++ "${@:4}" "-I$1/include" -fsyntax-only - 2>&1 || true)
    grep -m 1 error <<<"$said" | grep -qF -- "$3" || echo "$2:1: with ${*:4} the first error does not say '$3'"
}

# owns_handles ROOT: what releases a handle in docs/reference/api.json is called by a class
owns_handles() {
    local function
    [ -e "$1/docs/reference/api.json" ] || return 0
    awk '/^ *"handles": / { inside = 1 } /^ *"structs": / { inside = 0 }
         inside && sub(/.*"release": "/, "") { sub(/".*/, ""); print }' "$1/docs/reference/api.json" |
        while read -r function; do
            grep -rqw "$function" "$1/include/mxc/cpp" || echo "include/mxc/mxc.hpp:1: no class calls $function"
        done
}

samples() {
    must_find include/mxc/mxc.hpp <<<'int x();'
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
