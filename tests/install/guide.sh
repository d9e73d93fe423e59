#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# guide.sh [BUILD [PAGE...]]: follows the pages of docs/guide literally, against the installed build (default build/release).
# A page with "<!-- needs: COMMAND -->" is skipped where the command fails. Each page gets an empty directory. A code block below "<!-- write: FILE -->" is written to that file, one below
# "<!-- run -->" is run there, and each line of one below "<!-- prints -->" must be in the output of the last run. /opt/mxc and
# build/release in the pages stand for the installed tree and the build directory, libmxc/ for a clone of this tree.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(realpath "${1:-$root/build/release}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
shift || true
[ $# -gt 0 ] || set -- "$root"/docs/guide/*.md

cmake --install "$build" --prefix "$work/mxc" >"$work/log"
if command -v ccache >/dev/null; then
    export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi
export PKG_CONFIG_PATH=$work/mxc/lib/pkgconfig

# steps PAGE DIRECTORY: prints "write FILE BLOCK", "run - BLOCK" or "prints - BLOCK" per marked block, which it leaves in BLOCK
steps() {
    awk -v blocks="$2" '
    inside && /^```/ { inside = 0; close(block) }
    inside { print >block }
    armed && /^```/ { inside = 1; armed = 0; block = blocks "/" ++n; printf "" >block; print kind, name, block; next }
    !inside && /^<!-- (write: .*|run|prints) -->$/ {
        kind = $2; sub(/:$/, "", kind)
        name = kind == "write" ? $3 : "-"
        armed = 1
    }' "$1"
}

for page; do
    name=$(basename "$page" .md)
    needs=$(sed -n 's/^<!-- needs: \(.*\) -->$/\1/p' "$page")
    if [ -n "$needs" ] && ! bash -c "$needs" >/dev/null 2>&1; then
        echo "$name: skipped, since this fails: $needs"
        continue
    fi
    mkdir -p "$work/$name" "$work/blocks/$name"
    steps "$page" "$work/blocks/$name" >"$work/steps"
    if grep -q '^write libmxc/' "$work/steps"; then # without what is built; unchanged files are found in a compiler cache
        mkdir "$work/$name/libmxc"
        tar -C "$root" --exclude=./build --exclude=./.git -cf - . | tar -C "$work/$name/libmxc" -xf -
        export CCACHE_BASEDIR=$work/$name/libmxc CCACHE_NOHASHDIR=1
    fi
    count=0
    while read -r kind file block; do
        sed -i -e "s#/opt/mxc#$work/mxc#g" -e "s#build/release#$build#g" "$block"
        case $kind in
            write)
                mkdir -p "$(dirname "$work/$name/$file")"
                cp "$block" "$work/$name/$file"
                ;;
            run)
                count=$((count + 1))
                if ! (cd "$work/$name" && bash -euo pipefail "$block") >"$work/out" 2>&1 </dev/null; then
                    echo "$name: a command failed:"
                    cat "$block" "$work/out"
                    exit 1
                fi
                ;;
            prints)
                while IFS= read -r line; do
                    grep -qF -- "$line" "$work/out" && continue
                    echo "$name: expected the line '$line' in the output:"
                    cat "$work/out"
                    exit 1
                done <"$block"
                ;;
        esac
    done <"$work/steps"
    [ $count = 0 ] || echo "$name: works"
done
