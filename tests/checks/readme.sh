#!/bin/bash
# The programs in README are examples/hello.c and examples/minimal.c, line by line, and have at most 20 and 64 lines. Each stands
# as a code block directly below a line such as "<!-- examples/hello.c -->".
. "$(dirname "$0")/lib.sh"

# check_program ROOT PROGRAM LINES
check_program() {
    local program=$2 copy
    copy=$(awk -v marker="<!-- $program -->" '
        inside && /^```/ { exit }
        inside
        armed && /^```c$/ { inside = 1 }
        { armed = $0 == marker }' "$1/README.md")
    if [ -z "$copy" ]; then
        echo "README.md:1: no code block below a line <!-- $program -->"
    elif [ "$copy" != "$(cat "$1/$program")" ]; then
        echo "README.md:$(grep -n "^<!-- $program -->" "$1/README.md" | cut -d: -f1): the program is not $program:"
        diff <(printf '%s\n' "$copy") "$1/$program" || true
    fi
    if [ "$(wc -l <"$1/$program")" -gt "$3" ]; then
        echo "$program:$(($3 + 1)): more than $3 lines"
    fi
}

check() {
    check_program "$1" examples/hello.c 20
    check_program "$1" examples/minimal.c 64
}

# A tree of README.md, which begins with a good copy of the other program and goes on from stdin, and of the program in
# $program.
sample() {
    local root
    root=$(mktemp -d "$scratch/XXXXXX")
    mkdir "$root/examples"
    echo 'int x;' >"$root/examples/hello.c"
    { printf '<!-- examples/hello.c -->\n```c\nint x;\n```\n'; cat; } >"$root/$1"
    printf '%s\n' "$program" >"$root/examples/minimal.c"
    echo "$root"
}

samples() {
    local mark='<!-- examples/minimal.c -->' program='int main(void) {
    return 0;
}'
    must_pass README.md <<<"# lib
\`\`\`c
int x;
\`\`\`
$mark
\`\`\`c
$program
\`\`\`
More."
    must_find README.md <<<"$program"
    must_find README.md <<<"\`\`\`c
$program
\`\`\`"
    must_find README.md <<<"$mark
\`\`\`c
${program/0/1}
\`\`\`"
    must_find README.md <<<"$mark
\`\`\`c
$program
}
\`\`\`"
    program=$(for ((i = 0; i < 61; i++)); do echo "int x$i;"; done)
    must_find README.md <<<"$mark
\`\`\`c
$program
\`\`\`"
}

main "$@"
