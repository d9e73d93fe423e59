#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Style that needs no judgement: function, file and line lengths, tabs, trailing blanks, leftovers, and a licence line at the
# beginning of every source file.
. "$(dirname "$0")/lib.sh"

# licences ROOT: source files whose first line, or second below #!, is no licence line
licences() {
    (cd "$1" && find . \( -path ./build -o -path './.*' -o -path ./tests/golden/data \) -prune -o -type f -regextype egrep \
        -regex '.*\.(c|h|hpp|inc|def|cu|cpp|sh|py|cmake|awk|lua)' -print | sed 's|^\./||' | sort | tr '\n' '\0' | xargs -0 -r awk '
        FNR == 1 { if (NR > 1 && !found) print file ":1: no SPDX-License-Identifier"; file = FILENAME; found = 0 }
        FNR <= 2 && /SPDX-License-Identifier: Apache-2\.0/ { found = 1 }
        FNR > 2 { nextfile }
        END { if (NR > 0 && !found) print file ":1: no SPDX-License-Identifier" }')
}

check() {
    local file
    licences "$1"
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

# sample PATH: like that of lib.sh, behind a licence line unless the text has none on purpose
sample() {
    local root
    root=$(mktemp -d "$scratch/XXXXXX")
    mkdir -p "$root/$(dirname "$1")"
    { [ -n "${unlicensed:-}" ] || echo '/* SPDX-License-Identifier: Apache-2.0 */'; cat; } >"$root/$1"
    echo "$root"
}

samples() {
    must_find src/io/a.c < <(echo 'void f(int x) {'; body 99; echo '}')
    must_find tests/io/a.c < <(printf 'void f(int x,\n       int y) {\n'; body 99; echo '}')
    must_find src/io/a.c < <(body 801)
    must_find include/mxc/a.h < <(printf '/* %0117d */\n' 0)
    must_find bench/a.c <<<$'\tint x;'
    must_find fuzz/a.c <<<'int x; '
    must_find examples/a.c <<<'#if 0'
    unlicensed=1 must_find src/io/a.c <<<'int x;'
    unlicensed=1 must_find scripts/a.sh <<<$'#!/bin/bash\n\n# SPDX-License-Identifier: Apache-2.0'
    unlicensed=1 must_pass scripts/a.sh <<<$'#!/bin/bash\n# SPDX-License-Identifier: Apache-2.0'
    must_pass src/io/a.c < <(echo 'const int table[] = {'; body 100; echo '};'; echo 'void f(int x) {'; body 98; echo '}')
}

main "$@"
