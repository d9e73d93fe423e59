#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs that Markdown pages show are the files of the tree: a code block directly below a line such as
# "<!-- examples/hello.c -->" equals that file. README has at most 130 lines and shows examples/classify.c, whose code has at most 15
# lines, with at most 10 calls of the library; that of examples/top_five.c has at most 25 lines.
. "$(dirname "$0")/lib.sh"

# block PAGE LINE: the code block that begins on the line after LINE
block() { awk -v at="$2" 'NR == at + 1 && !/^```/ { exit } NR > at + 1 && /^```/ { exit } NR > at + 1' "$1"; }

# short ROOT FILE LINES CALLS: finds fault with a program that has more lines of code, or more calls of the library
short() {
    [ -f "$1/$2" ] || return 0
    code "$1/$2" | awk -v file="$2" -v lines="$3" -v calls="$4" '
        /[^ ]/ { n++ }
        { m += gsub(/mxc_[a-z0-9_]+\(/, "") }
        END {
            if (n > lines) print file ":1: " n " lines of code, at most " lines
            if (m > calls) print file ":1: " m " calls of the library, at most " calls
        }'
}

check() {
    local page line program
    (cd "$1" && grep -rnE --include='*.md' --exclude-dir=build '^<!-- [^ ]+\.[a-z]+ -->$' . || true) | sed 's|^\./||' |
        while IFS=: read -r page line program; do
            program=${program#<!-- } program=${program% -->}
            if [ ! -f "$1/$program" ]; then
                echo "$page:$line: there is no $program"
            elif ! diff -q <(block "$1/$page" "$line") "$1/$program" >/dev/null; then
                echo "$page:$line: the code block differs from $program:"
                diff <(block "$1/$page" "$line") "$1/$program" || true
            fi
        done
    [ -f "$1/README.md" ] || return 0
    grep -qx '<!-- examples/classify.c -->' "$1/README.md" || echo "README.md:1: does not show examples/classify.c"
    short "$1" examples/classify.c 15 10
    short "$1" examples/top_five.c 25 25
    awk 'END { if (NR > 130) print "README.md:131: " NR " lines, at most 130" }' "$1/README.md"
}

# A tree of one page, and of examples/classify.c and, from $top_five, examples/top_five.c.
sample() {
    local root
    root=$(mktemp -d "$scratch/XXXXXX")
    mkdir -p "$root/examples" "$root/$(dirname "$1")"
    printf 'int main(void) {\n    return 0;\n}\n' >"$root/examples/classify.c"
    printf '%s' "${top_five:-}" >"$root/examples/top_five.c"
    cat >"$root/$1"
    echo "$root"
}

samples() {
    local shown='<!-- examples/classify.c -->
```c
int main(void) {
    return 0;
}
```'
    must_pass README.md <<<"$shown"
    must_pass docs/a.md <<<"Text.
$shown
Text."
    must_find README.md <<<"Text."
    must_find README.md <<<"${shown/0/1}"
    must_find docs/a.md <<<"${shown/0/1}"
    must_find docs/a.md <<<"${shown/\}/\}
\}}"
    must_find docs/a.md <<<"${shown/classify/absent}"
    must_find docs/a.md <<<"${shown/-->/-->
}"
    must_find README.md < <(printf '%s\n' "$shown"; seq 125)
    top_five=$(seq 25) must_pass README.md <<<"$shown"
    top_five=$(seq 26) must_find README.md <<<"$shown"
    top_five=$(yes 'mxc_a(mxc_b(x));' | head -n 13) must_find README.md <<<"$shown"
}

main "$@"
