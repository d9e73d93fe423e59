#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# No header of src/ includes itself through others. Prints each group of files that include one another.
. "$(dirname "$0")/lib.sh"

# Tarjan's algorithm, iteratively, over the edges "file includes file"; both paths relative to src/.
check() {
    (cd "$1" && find src -type f \( -name '*.[ch]' -o -name '*.cu' -o -name '*.inc' -o -name '*.def' \) 2>/dev/null |
        sort | xargs -r grep -HoE '^[ \t]*#[ \t]*include[ \t]*"[^"]+"') |
        awk '
        {
            split($0, part, "\""); file = $0; sub(/:.*/, "", file); sub(/^src\//, "", file)
            edges[file] = edges[file] " " part[2]
            if (!(file in known)) { known[file] = 1; files[++n] = file }
        }
        function visit(root,    depth, node, next_one, count, list, group, size, w) {
            depth = 0; stack_node[++depth] = root; stack_at[depth] = 0
            index_of[root] = low[root] = ++counter; pending[++height] = root; is_pending[root] = 1
            while (depth) {
                node = stack_node[depth]; count = split(edges[node], list, " ")
                if (++stack_at[depth] <= count) {
                    next_one = list[stack_at[depth]]
                    if (next_one == node) alone[node] = 1
                    if (!(next_one in known)) continue
                    if (!(next_one in index_of)) {
                        index_of[next_one] = low[next_one] = ++counter
                        pending[++height] = next_one; is_pending[next_one] = 1
                        stack_node[++depth] = next_one; stack_at[depth] = 0
                    } else if (is_pending[next_one] && index_of[next_one] < low[node]) low[node] = index_of[next_one]
                    continue
                }
                if (low[node] == index_of[node]) {
                    group = ""; size = 0
                    do { w = pending[height--]; is_pending[w] = 0; group = group " src/" w; size++ } while (w != node)
                    if (size > 1 || alone[node]) print "src/" node ":1: includes itself through others:" group
                }
                depth--
                if (depth && low[node] < low[stack_node[depth]]) low[stack_node[depth]] = low[node]
            }
        }
        END { for (i = 1; i <= n; i++) if (!(files[i] in index_of)) visit(files[i]) }'
}

# tree FILE=INCLUDED...: a tree whose files include others; prints its root.
tree() {
    local root pair
    root=$(mktemp -d "$scratch/XXXXXX")
    for pair; do
        mkdir -p "$root/src/$(dirname "${pair%%=*}")"
        printf '#include "%s"\n' "${pair#*=}" >>"$root/src/${pair%%=*}"
    done
    echo "$root"
}

# expect FINDINGS TREE...: the number of lines that check prints
expect() {
    local found
    found=$(check "$(tree "${@:2}")" | wc -l)
    if [ "$found" != "$1" ]; then
        echo "cycles.sh --self-test: $found cycles in ${*:2}, expected $1"
        failed=1
    fi
}

samples() {
    expect 1 io/a.h=io/b.h io/b.h=io/a.h
    expect 1 io/a.h=io/a.h
    expect 1 io/a.c=io/a.h io/a.h=base/b.h base/b.h=base/c.inc base/c.inc=io/a.h
    expect 2 io/a.h=io/b.h io/b.h=io/a.h base/a.h=base/b.h base/b.h=base/a.h base/b.h=io/a.h
    expect 0 io/a.c=io/a.h io/a.h=io/b.h io/a.h=io/c.h io/b.h=io/c.h io/c.h=base/sys.h
}

main "$@"
