#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every C, C++ and CUDA file is as clang-format 14 writes it from .clang-format, and tests a null pointer as `!pointer`.
# include/mxc/operators/*.hpp, which are generated, say that they are not. Lists of macro calls (.def) are tables, not code, and are left as they are.
. "$(dirname "$0")/lib.sh"

formatter=$(command -v clang-format-14 || command -v clang-format || true)
[[ -n $formatter && $("$formatter" --version) == *version\ 14.* ]] || { echo "needs clang-format 14"; exit 1; }

# files ROOT PATTERN: NUL-terminated paths
files() {
    find "$1"/{src,include,tests,bench,examples,fuzz,tools} -regextype egrep -regex ".*\.($2)" -print0 2>/dev/null || true # a sample has one of the directories
}

check() {
    [ -e "$1/.clang-format" ] || cp "$here/.clang-format" "$1"
    files "$1" 'c|h|hpp|inc|cpp|cu' | xargs -0 -r -P "$(nproc)" -n 40 "$formatter" --dry-run 2>&1 |
        sed -nE "s|^$1/([^ :]+:[0-9]+):[0-9]+: warning: .*|\1: not as clang-format writes it|p" | sort -u
    files "$1" 'c|h|inc' | xargs -0 -r awk -v root="$1/" '
        /== NULL/ && !/#pointer|#options/ { print substr(FILENAME, length(root) + 1) ":" FNR ": test a pointer as !pointer" }'
}

samples() {
    must_find src/io/a.c <<<'int  x;'
    must_find src/cuda/a.cu <<<'int* x;'
    must_find tests/io/a.c < <(printf 'int f(void *x) {\n    return x == NULL;\n}\n')
    must_pass src/io/a.c < <(printf 'int f(void *x) {\n    return !x;\n}\n')
}

main "$@"
