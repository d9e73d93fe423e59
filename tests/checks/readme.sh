#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Programs that Markdown pages show are the files of the tree: a code block directly below a line such as
# "<!-- examples/hello.c -->" equals that file. README has at most 130 lines and shows examples/hello.c.
. "$(dirname "$0")/lib.sh"

# block PAGE LINE: the code block that begins on the line after LINE
block() { awk -v at="$2" 'NR == at + 1 && !/^```/ { exit } NR > at + 1 && /^```/ { exit } NR > at + 1' "$1"; }

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
    grep -qx '<!-- examples/hello.c -->' "$1/README.md" || echo "README.md:1: does not show examples/hello.c"
    awk 'END { if (NR > 130) print "README.md:131: " NR " lines, at most 130" }' "$1/README.md"
}

# A tree of one page, and of examples/hello.c.
sample() {
    local root
    root=$(mktemp -d "$scratch/XXXXXX")
    mkdir -p "$root/examples" "$root/$(dirname "$1")"
    printf 'int main(void) {\n    return 0;\n}\n' >"$root/examples/hello.c"
    cat >"$root/$1"
    echo "$root"
}

samples() {
    local shown='<!-- examples/hello.c -->
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
    must_find docs/a.md <<<"${shown/hello/absent}"
    must_find docs/a.md <<<"${shown/-->/-->
}"
    must_find README.md < <(printf '%s\n' "$shown"; seq 125)
}

main "$@"
