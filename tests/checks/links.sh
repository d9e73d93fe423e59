#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every relative link in a Markdown file names a file or directory of this tree, and every anchor a heading of its target.
# Headings get the anchors that GitHub gives them. Links into the web are not followed.
. "$(dirname "$0")/lib.sh"

check() {
    (cd "$1" && find . -name '*.md' -not -path './build/*' -not -path './.*/*' | sed 's|^\./||' | sort |
        xargs -r awk '
        FNR == 1 { fence = ""; file = FILENAME }
        match($0, /^ *(```|~~~)/) {
            mark = substr($0, RSTART + RLENGTH - 3, 3)
            if (fence == "") fence = mark; else if (fence == mark) fence = ""
            next
        }
        fence != "" { next }
        /^#+ / {
            slug = tolower($0)
            sub(/^#+ +/, "", slug); sub(/[ #]+$/, "", slug)
            gsub(/\]\([^)]*\)/, "", slug); gsub(/[^a-z0-9_ -]/, "", slug); gsub(/ /, "-", slug)
            n = seen[file "#" slug]++
            anchors[file "#" slug (n ? "-" n : "")] = 1
        }
        {
            text = $0
            gsub(/`[^`]*`/, "", text)
            while (match(text, /\]\([^)]*\)/)) {
                count++
                where[count] = file ":" FNR
                from[count] = file
                target[count] = substr(text, RSTART + 2, RLENGTH - 3)
                text = substr(text, RSTART + RLENGTH)
            }
        }
        # path relative to the directory of file, without "." and ".."
        function resolve(file, path,    part, n, i, out, depth) {
            sub(/[^\/]*$/, "", file)
            n = split(file path, part, "/")
            for (i = 1; i <= n; i++) {
                if (part[i] == ".." && depth > 0) depth--
                else if (part[i] != "." && part[i] != "") out[++depth] = part[i]
            }
            path = depth ? out[1] : "."
            for (i = 2; i <= depth; i++) path = path "/" out[i]
            return path
        }
        END {
            for (i = 1; i <= count; i++) {
                if (target[i] ~ /^(https?|mailto):/) continue
                path = anchor = target[i]
                sub(/#.*/, "", path)
                sub(/^[^#]*#?/, "", anchor)
                path = path == "" ? from[i] : resolve(from[i], path)
                if (!(path in exists)) exists[path] = system("test -e \"" path "\"") == 0
                if (!exists[path]) print where[i] ": links to " target[i] ", which does not exist"
                else if (anchor != "" && !((path "#" anchor) in anchors))
                    print where[i] ": links to " target[i] ": " path " has no such heading"
            }
        }')
}

samples() {
    must_find a.md <<<'[b](b.md)'
    must_find docs/a.md <<<'See `x`, [a](a.md) and [b](../b.md).'
    must_find a.md < <(printf '# Head\n[b](#heads)\n')
    must_find a.md < <(printf '```\n# Head\n```\n[b](#head)\n')
    must_pass docs/a.md < <(printf '# A `head`, here\n[b](#a-head-here) [c](../docs/a.md#a-head-here) [d](.) [e](https://x.y/z)\n')
    must_pass a.md < <(printf '# Head\n# Head\n[b](#head-1) `[c](c.md)`\n```\n[d](d.md)\n```\n')
}

main "$@"
