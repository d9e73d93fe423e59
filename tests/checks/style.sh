#!/bin/bash
# What can be said of style without taste: function, file and line lengths, tabs, trailing blanks, leftovers.
. "$(dirname "$0")/lib.sh"

check() {
    local file
    sources "$1" src include tests bench examples fuzz tools | while read -r file; do
        awk -v file="$file" '
        function wrong(line, why) { printf "%s:%d: %s\n", file, line, why }
        length($0) > 120 { wrong(NR, "line of " length($0) " columns, at most 120") }
        /\t/ { wrong(NR, "tab") }
        / $/ { wrong(NR, "trailing blank") }
        /TODO|FIXME|(^|[^X])XXX([^X]|$)|^[ ]*#[ ]*if 0/ { wrong(NR, "unfinished or dead") }
        !start && /\) \{$/ && !/^[ ]*#/ { start = NR } # at file level: only a function begins so
        /^}/ { if (start && NR - start + 1 > 100) wrong(start, "function of " NR - start + 1 " lines, at most 100"); start = 0 }
        END { if (NR > 800) wrong(NR, "file of " NR " lines, at most 800") }' "$1/$file"
    done
}

# body N: N lines of code
body() { awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) print "    x++;" }'; }

samples() {
    must_find src/io/a.c < <(echo 'void f(int x) {'; body 99; echo '}')
    must_find tests/io/a.c < <(printf 'void f(int x,\n       int y) {\n'; body 99; echo '}')
    must_find src/io/a.c < <(body 801)
    must_find include/mxc/a.h < <(printf '/* %0117d */\n' 0)
    must_find bench/a.c <<<$'\tint x;'
    must_find fuzz/a.c <<<'int x; '
    must_find examples/a.c <<<'#if 0'
    must_pass src/io/a.c < <(echo 'const int table[] = {'; body 100; echo '};'; echo 'void f(int x) {'; body 98; echo '}')
}

main "$@"
