# SPDX-License-Identifier: Apache-2.0
# Shared by train.sh and test.sh; sourced, not run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
jobs=$(nproc)
install=yes

say() { printf '%s\n' "$*"; }
die() { printf '%s\n' "$*" >&2; exit 1; }

# Packages that the library itself is built from, on Debian 12.
build_packages=(gcc libc6-dev make cmake pkg-config libopenblas-dev libjansson-dev zlib1g-dev
    libturbojpeg0-dev libpng-dev)

missing_packages() {
    local package
    for package; do
        dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed || printf '%s ' "$package"
    done
}

# need_packages PACKAGE...: installs those that are missing; nothing with --no-install.
need_packages() {
    local missing
    [ $install = yes ] || return 0
    command -v dpkg-query >/dev/null ||
        die "This is not Debian: install the equivalents of $* yourself, then run this again with --no-install."
    read -ra missing <<<"$(missing_packages "$@")" || true
    [ ${#missing[@]} -gt 0 ] || return 0
    say "Installing ${missing[*]} with apt-get."
    [ "$(id -u)" = 0 ] ||
        die "That needs root. Run this as root, or run 'apt-get install ${missing[*]}' as root and then this again."
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -q
    apt-get install -q -y --no-install-recommends "${missing[@]}"
}

# configure DIRECTORY [-D...]: quiet unless it fails. A build directory that belongs to another checkout is started afresh.
configure() {
    local log=$1/configure.log
    mkdir -p "$1"
    # A build directory keeps the generator that it was made with.
    ! command -v ninja >/dev/null || export CMAKE_GENERATOR=Ninja
    # Several build directories compile the same files with the same options: once, where there is a compiler cache.
    if command -v ccache >/dev/null; then
        export CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache CMAKE_CUDA_COMPILER_LAUNCHER=ccache
        export CCACHE_BASEDIR=$PWD CCACHE_NOHASHDIR=1
        export CCACHE_SLOPPINESS=pch_defines,time_macros # without which it compiles all that has a precompiled header
    fi
    if [ -f "$1/CMakeCache.txt" ] && ! grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$PWD" "$1/CMakeCache.txt"; then
        rm -rf "$1/CMakeCache.txt" "$1/CMakeFiles"
    fi
    cmake -S . -B "$@" >"$log" 2>&1 || { cat "$log" >&2; return 1; }
}
