#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh [BUILD]: installs the built library (default build/release), moves the installed tree, and builds and runs a
# program against it by pkg-config and by find_package, shared and static, as C and as C++; one that loads it late; and
# runs README's commands.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
build=${1:-$here/../../build/release}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cmake --install "$build" --prefix "$work/first" >"$work/log"
mv "$work/first" "$work/moved prefix"
prefix="$work/moved prefix"
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"

# runs NAME PROGRAM shared|static: the program works and is linked as it says
runs() {
    local linked=static
    if readelf -d "$2" | grep -q 'libmxc\.so\.0'; then linked=shared; fi
    if [ $linked != "$3" ]; then
        echo "$1: linked $linked instead of $3"
        return 1
    fi
    LD_LIBRARY_PATH="$prefix/lib" "$2" >"$work/out"
    grep -q "1.5 2.5" "$work/out"
    echo "$1: works"
}

# compile OUT LANGUAGE [pkg-config option]
compile() {
    local flags source=${source:-hello.c} language=$2 cc=${CC:-cc}
    [ "$language" = c++ ] && cc="${CXX:-c++} -std=${standard:-c++20} -Wpedantic"
    flags=$(pkg-config "${@:3}" --cflags --libs mxc)
    [ "${3:-}" = --static ] && flags=${flags/-lmxc/-l:libmxc.a}
    eval "$cc -x $language -Wall -Werror '$here/$source' -x none -o '$1' $flags"
}

for language in c c++; do
    compile "$work/shared" $language
    runs "pkg-config, shared, $language" "$work/shared" shared
    compile "$work/static" $language --static
    runs "pkg-config, static, $language" "$work/static" static
    source=own_op.c compile "$work/own_op" $language
    runs "an operator of its own, $language" "$work/own_op" shared
done

source=own_op.cpp standard=c++11 compile "$work/own_op" c++
runs "an operator of its own, C++11" "$work/own_op" shared

source=classes.cpp standard=c++17 compile "$work/classes" c++
runs "mxc.hpp, shared, C++17" "$work/classes" shared
source=classes.cpp standard=c++17 compile "$work/classes" c++ --static
runs "mxc.hpp, static, C++17" "$work/classes" static

cmake -S "$here" -B "$work/build" -DCMAKE_PREFIX_PATH="$prefix" >>"$work/log"
cmake --build "$work/build" >>"$work/log"
for language in c cpp classes; do
    runs "find_package, shared, $language" "$work/build/${language}_shared" shared
    runs "find_package, static, $language" "$work/build/${language}_static" static
done

# README's commands, as printed but for the prefix, the build directory and where the program goes.
root=$here/../..
awk '/^```/ { if (inside) exit; block = ""; next_is = 1; next }
     next_is { inside = /^cmake -S \. -B build\/release/; next_is = 0 }
     inside' "$root/README.md" | sed -e "s#/opt/mxc#$work/opt#g" -e "s#build/release#$(realpath "$build")#g" \
    -e "s#-o hello#-o $work/hello#" -e "s#^\./hello#$work/hello#" >"$work/readme.sh"
grep -q "^$work/hello" "$work/readme.sh"
(cd "$root" && env -u PKG_CONFIG_PATH bash -euo pipefail "$work/readme.sh") >"$work/out"
grep -q "6. 15." "$work/out"
echo "README's commands: work"

if PKG_CONFIG_LIBDIR=/nonexistent cmake -S "$root" -B "$work/nothing" >"$work/out" 2>&1 ||
    ! grep -q "apt-get install libopenblas-dev" "$work/out"; then
    echo "configuring without the packages does not name them"
    exit 1
fi
echo "missing packages: named"

cc -Wall -Werror "-I$prefix/include" "$here/load.c" -o "$work/load" -ldl -pthread
"$work/load" "$prefix/lib/libmxc.so.0" >"$work/out"
grep -q "^libmxc [0-9]" "$work/out"
echo "dlopen and dlclose: work"

if luajit -e "require 'cjson'" 2>/dev/null; then
    LUA_PATH="$prefix/share/lua/5.1/?.lua" LIBMXC_LIBRARY="$prefix/lib/libmxc.so" luajit -e 'print(require("mxc").version())' \
        >"$work/out"
    grep -q '^[0-9]' "$work/out"
    echo "LuaJIT: works"
fi

# Modules of the tree are found without any variable, by the shared library and by the installed program, which is linked
# statically. What lies there cannot be loaded: the loader says which file it tried.
rm -f "$prefix/lib/libmxc_cuda.so"
echo "no module" >"$prefix/lib/libmxc_cuda.so"
eval "${CC:-cc} -Wall -Werror '$here/module.c' -o '$work/module' $(pkg-config --cflags --libs mxc)"
unset MXC_GPU_MODULE
LD_LIBRARY_PATH="$prefix/lib" "$work/module" >"$work/out"
grep -qF "$prefix/lib/libmxc_cuda.so: " "$work/out"
"$prefix/bin/mxc" ops --missing gpu >"$work/out" 2>&1 || true
grep -qF "$prefix/bin/../lib/libmxc_cuda.so: " "$work/out"
echo "modules: found"

if grep -rqF "$(cd "$here/../.." && pwd)" "$prefix" || grep -rqF "$work/first" "$prefix"; then
    echo "the installed tree names the place it was built or first installed:"
    grep -rlF -e "$(cd "$here/../.." && pwd)" -e "$work/first" "$prefix"
    exit 1
fi
