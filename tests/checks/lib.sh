# SPDX-License-Identifier: Apache-2.0
# Shared by the check scripts; sourced, not run.
#
# A check script defines `check ROOT` (prints one "file:line: what is wrong" per finding) and `samples` (calls must_find and
# must_pass), then ends with `main "$@"`. `script` looks at this tree; `script --self-test` proves that it can fail.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

# code FILE: its lines without comments and without what stands inside quotes; line numbers stay.
code() {
    awk '{
        out = ""
        for (i = 1; i <= length($0); i++) {
            c = substr($0, i, 1); two = substr($0, i, 2)
            if (comment) { if (two == "*/") { comment = 0; i++ } continue }
            if (quote != "") { if (c == "\\") i++; else if (c == quote) { quote = ""; out = out c } continue }
            if (two == "/*") { comment = 1; i++; continue }
            if (two == "//") break
            if (c == "\"" || c == "\x27") quote = c
            out = out c
        }
        quote = ""
        print out
    }' "$1"
}

# sources ROOT FOLDER...: the C files below these folders, relative to ROOT.
sources() {
    local root=$1 folder
    shift
    for folder; do
        if [ -d "$root/$folder" ]; then
            (cd "$root" && find "$folder" -type f \( -name '*.[ch]' -o -name '*.inc' -o -name '*.def' \)) | sort
        fi
    done
}

# sample PATH: a tree that holds one file, its text from stdin; prints its root.
sample() {
    local root
    root=$(mktemp -d "$scratch/XXXXXX")
    mkdir -p "$root/$(dirname "$1")"
    cat >"$root/$1"
    echo "$root"
}

must_find() {
    if [ -z "$(check "$(sample "$1")")" ]; then
        echo "$(basename "$0") --self-test: a mistake in $1 went unseen (sample $cases)"
        failed=1
    fi
    cases=$((cases + 1))
}

must_pass() {
    local found
    found=$(check "$(sample "$1")")
    if [ -n "$found" ]; then
        echo "$(basename "$0") --self-test: found fault with good code: $found"
        failed=1
    fi
    cases=$((cases + 1))
}

main() {
    local found
    failed=0
    cases=0
    if [ "${1:-}" = --self-test ]; then
        scratch=$(mktemp -d)
        trap 'rm -rf "$scratch"' EXIT
        samples
        exit $failed
    fi
    found=$(check "${1:-$here}")
    if [ -n "$found" ]; then
        printf '%s\n' "$found"
        exit 1
    fi
}
