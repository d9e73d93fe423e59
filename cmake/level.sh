#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# level.sh LEVEL FILE LD NM OBJCOPY OBJECT...: links the objects into FILE.o, in which every external name that they define
# ends in _LEVEL, and writes those names, as they were, with kinds and sizes to FILE.symbols.
set -e
level=$1 file=$2 linker=$3 nm=$4 objcopy=$5
shift 5
mkdir -p "$(dirname "$file")"
"$linker" -r -o "$file.linked.o" "$@"
"$nm" --defined-only --extern-only --print-size "$file.linked.o" >"$file.symbols"
awk -v level="$level" '{ print $NF, $NF "_" level }' "$file.symbols" >"$file.names"
"$objcopy" --redefine-syms="$file.names" "$file.linked.o" "$file.o"
rm "$file.linked.o" "$file.names"
