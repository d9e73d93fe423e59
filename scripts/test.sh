#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds and runs every test, cheapest stage first, and counts every case of every stage.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

usage='scripts/test.sh [--no-install] [STAGE]...
  Installs what is missing with apt-get (as root; not with --no-install), builds in build/, runs the stages (all of them if
  none is named) and ends with one line "N passed, N failed". Stages:
    checks    layers, style, links, public headers and more: the scripts in tests/checks
    minimal   as on a machine without MPI, C++, CUDA, JPEG and PNG: the programs, and the tests that notice
    plain     optimised build, all tests, exported and imported symbols, instructions; kernels on aarch64 by an emulator
    install   programs built against the installed tree, also those of docs/guide
    programs  examples and benches, briefly
    python    the Python package: its tests, its types, the programs of the guide
    address   all tests under the address and undefined-behaviour sanitizers, and the Python package
    thread    all tests under the thread sanitizer, and the Python package
    fuzz      each fuzz target for FUZZ_SECONDS (10; 30 for readers of data sets); skipped without clang'

stages=()
for argument; do
    case $argument in
        --no-install) install=no ;;
        -h | --help) say "$usage"; exit ;;
        checks | minimal | plain | install | programs | python | address | thread | fuzz) stages+=("$argument") ;;
        *) die "test.sh: unknown argument '$argument'; --help lists what there is" ;;
    esac
done
[ ${#stages[@]} -gt 0 ] || stages=(checks minimal plain install programs python address thread fuzz)

# Where there is nvcc, the GPU module is built too, for one virtual GPU: every kernel is compiled and linked, in a third of
# the time that the real ones take.
release=(build/release -DMXC_CUDA_ARCHITECTURES=90-virtual)

# Without all that is optional, and with those tests only whose results depend on that. Its kernels are those of any
# processor alone; sanitizers and fuzz targets have one level too, which cmake/levels.cmake chooses.
minimal_tests='^(base/test_module|io/test_(augment|every_iter|image_.*|memory)|kvstore/test_(gpu_sums|dist)'
minimal_tests+='|operator/test_(codec|image_file|operators)|tools/.*)$'
minimal=(build/minimal -DMXC_BUILD_CUDA=OFF -DMXC_BUILD_FAKE_GPU=OFF -DMXC_BUILD_MPI=OFF -DMXC_JPEG=OFF -DMXC_PNG=OFF
    "-DMXC_CPU_LEVELS=$([ "$(uname -m)" = aarch64 ] && echo neon || echo baseline)"
    -DCMAKE_DISABLE_FIND_PACKAGE_dnnl=ON -DCMAKE_DISABLE_FIND_PACKAGE_OpenMP=ON "-DMXC_TESTS=$minimal_tests")

# OpenMPI: also as root, and on fewer processors than processes.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

passed=0 failed=0 skipped=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# try NAME COMMAND...: one case; its output is shown only if it fails
try() {
    local name=$1 start=$SECONDS
    shift
    if "$@" >"$scratch/log" 2>&1 </dev/null; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        say "FAILED: $name ($((SECONDS - start)) s)"
        { grep -E -A 6 '(error|warning): |undefined reference' "$scratch/log" | head -n 100; tail -n 60 "$scratch/log"; } |
            sed 's/^/    /'
        return 1
    fi
}

skip() {
    skipped=$((skipped + 1))
    say "skipped: $*"
}

# build DIRECTORY [-D...]: one case only if it fails; goes on past errors, so that the other tests still run
build() {
    local count=$passed status=0 keep_going=(-k)
    try "configure $1" configure "$@" -DMXC_WERROR=ON || status=1
    ! grep -qsx 'CMAKE_GENERATOR:INTERNAL=Ninja' "$1/CMakeCache.txt" || keep_going=(-k 0)
    [ $status = 1 ] || try "build $1" cmake --build "$1" -j "$jobs" -- "${keep_going[@]}" || status=1
    passed=$count
    return $status
}

# run_tests DIRECTORY: every executable that ctest knows there
run_tests() {
    local counts number name
    ctest --test-dir "$1" -V -j "$jobs" >"$1/ctest.log" 2>&1 </dev/null || true
    awk -f scripts/count_tests.awk "$1/ctest.log" >"$scratch/counts"
    read -ra counts <"$scratch/counts"
    passed=$((passed + counts[0])) failed=$((failed + counts[1])) skipped=$((skipped + counts[2]))
    tail -n +2 "$scratch/counts" | while read -r number name; do
        say "FAILED: $name in $1"
        grep "^$number: " "$1/ctest.log" | grep -vE ': (Test (command|timeout)|Working Dir|Environment| [A-Z]+_OPTIONS=)' |
            sed 's/^[0-9]*:/   /' >"$scratch/log"
        grep -m 1 -A 60 -E '(WARNING|ERROR): [A-Za-z]*Sanitizer' "$scratch/log" || tail -n 100 "$scratch/log"
    done
    if [ $((counts[0] + counts[1])) = 0 ]; then
        failed=$((failed + 1))
        say "FAILED: $1 has no tests"
    fi
}

stage_checks() {
    local check name
    for check in tests/checks/*.sh; do
        name=$(basename "$check" .sh)
        [ "$name" != lib ] || continue
        if [ "$name" = api ] && ! /usr/bin/python3 -c 'import pycparser' 2>/dev/null; then
            skip "the description of the interface: needs pycparser (package python3-pycparser)"
            continue
        fi
        try "$name --self-test" "$check" --self-test || true
        [[ $name =~ ^(symbols|levels)$ ]] || try "$name" "$check" || true
    done
    if command -v pandoc >/dev/null; then
        try "site" scripts/site.sh --no-install "$scratch/site" || true
    else
        skip "the documentation as a site: needs pandoc"
    fi
}

# The other tests are the same code as in the stage plain.
stage_minimal() {
    local directory n
    build "${minimal[@]}" || true
    run_tests build/minimal
    for directory in tests/*/; do
        directory=$(basename "$directory")
        n=$(cd tests && printf '%s\n' "$directory"/test_*.c | sed 's/\.c$//' | grep -cvE "$minimal_tests|\*") || continue
        skip "$n programs of tests/$directory do not depend on these options: see the stage plain"
    done
    run_programs build/minimal
}

# front_end VARIABLE VERSION: training programs run by MXNet's front end of that version, on its own library and on ours
front_end() {
    if [ -n "${!1:-}" ]; then
        try "training programs of MXNet $2" timeout 1200 /usr/bin/python3 tests/compat/compare.py "${!1}" build/release/libmxnet.so || true
    else
        skip "tests/compat/training with MXNet $2: needs $1, the path of a Python that has its package"
    fi
}

stage_plain() {
    build "${release[@]}" || true
    run_tests build/release
    grep -qx cxx build/release/features.txt || skip "tests/cpp: needs a C++ compiler (package g++)"
    grep -qx lua build/release/features.txt || skip "tests/lua: needs LuaJIT and lua-cjson (packages luajit, lua-cjson)"
    [ -e build/release/libmxc_mpi.so ] || skip "tests/mpi: needs an MPI (packages libopenmpi-dev, openmpi-bin)"
    try symbols tests/checks/symbols.sh || true
    try levels tests/checks/levels.sh || true
    if command -v aarch64-linux-gnu-gcc >/dev/null && command -v qemu-aarch64 >/dev/null; then
        try "kernels on aarch64" tests/aarch64/run.sh || true
    else
        skip "the kernels on aarch64: need packages gcc-aarch64-linux-gnu and qemu-user"
    fi
    front_end LIBMXC_MXNET_PYTHON 1.9.1
    front_end LIBMXC_MXNET_0_9_PYTHON 0.9.5
    if /usr/bin/python3 -c 'import pycparser' 2>/dev/null; then
        try "api of the library" scripts/api.py --check --library build/release/libmxc.so || true
    else
        skip "the description and the library: needs pycparser (package python3-pycparser)"
    fi
}

stage_install() {
    build "${release[@]}" || return 0
    try "install" tests/install/run.sh build/release || true
    try "guide" tests/install/guide.sh build/release || true
    luajit -e "require 'cjson'" 2>/dev/null ||
        skip "docs/guide/lua.md and the installed binding: need LuaJIT and lua-cjson (packages luajit, lua-cjson)"
}

# missing DIRECTORY WORD: what a line of tests/programs.txt needs by its word "@PATH" or "+FEATURE", and is not there
missing() {
    case $2 in
        @*) [ -r "$D" ] || echo "$D" ;;
        +*) grep -qxF "${2#+}" "$1/features.txt" || echo "${2#+}" ;;
    esac
}

# run_programs DIRECTORY: each line of tests/programs.txt is one command
run_programs() {
    local line word lacks data temporary=$scratch/$1
    data=$(realpath -m "${LIBMXC_TEST_DATA:-../shared/data}")
    mkdir -p "$temporary"
    grep -vE '^(#|$)' tests/programs.txt >"$scratch/programs"
    while read -r line; do
        lacks=
        while [[ $line == [@+]* ]]; do
            word=${line%% *} line=${line#* }
            [[ $word != @* ]] || export D=$data/${word#@}
            lacks+=${lacks:+ }$(missing "$1" "$word")
        done
        if [ -n "${lacks// /}" ]; then
            skip "$line: needs $lacks"
        else
            TMP=$temporary try "$line" timeout 300 bash -euo pipefail -c "cd $1 && $line" || true
        fi
    done <"$scratch/programs"
}

# Every example, bench program and tool must be in tests/programs.txt.
stage_programs() {
    local program
    build "${release[@]}" || true
    run_programs build/release
    for program in examples/*.c examples/cpp/*.cpp bench/bench_*.c tools/mxc.c; do
        program=${program%.c*}
        grep -qE "(^|[ ;&/])$program([ )]|\$)" "$scratch/programs" || try "$program is in tests/programs.txt" false || true
    done
}

# python_needs WHAT: skips that where a package of Python is not there
python_needs() {
    local module
    for module in cffi numpy pytest; do
        if ! /usr/bin/python3 -c "import $module" 2>/dev/null; then
            skip "$1: needs $module (package python3-$module)"
            return 1
        fi
    done
}

# python_tests DIRECTORY PYTHON... FILE...: each test that this Python runs on that library is one case
python_tests() {
    local word n directory=$1
    shift
    LIBMXC_PATH=$PWD/$directory/libmxc.so timeout 300 "$@" -q -rfEs -p no:cacheprovider >"$scratch/log" 2>&1 </dev/null || true
    for word in passed failed skipped error; do
        n=$(tail -n 1 "$scratch/log" | grep -oE "[0-9]+ $word" | cut -d ' ' -f 1) || n=0
        case $word in
            passed) passed=$((passed + n)) ;;
            skipped) skipped=$((skipped + n)) ;;
            *) failed=$((failed + n)) ;;
        esac
    done
    sed -n 's/^SKIPPED/skipped: python:/p' "$scratch/log"
    if ! tail -n 1 "$scratch/log" | grep -qE '^[0-9]+ passed' || grep -qE '^(FAILED|ERROR)' "$scratch/log"; then
        grep -qE '^(FAILED|ERROR)' "$scratch/log" || failed=$((failed + 1)) # it was killed, or found no tests
        say "FAILED: python/tests in $directory"
        tail -n 100 "$scratch/log" | sed 's/^/    /'
    fi
}

stage_python() {
    python_needs "the Python package" || return 0
    build "${release[@]}" || return 0
    python_tests build/release /usr/bin/python3 -m pytest python/tests
}

# sanitized_python DIRECTORY: the package on a library with a sanitizer, whose runtime is loaded before Python. Each process,
# also one whose output no test reads, writes its reports into files, and any report is a failure. Leaks are not looked for, since
# Python itself releases little when it ends.
sanitized_python() {
    local name runtime options launcher=() files=() reports
    python_needs "the Python package in $1" || return 0
    runtime=$(ldd "$1/libmxc.so" 2>/dev/null | awk '$1 ~ /^lib[at]san[.]so/ && $3 ~ /^\// { print $3 }') || true
    if [ -z "$runtime" ]; then
        skip "the Python package in $1: needs gcc's shared runtime of the sanitizer"
        return 0
    fi
    if [ "$1" = build/thread ]; then
        launcher=(setarch -R) # see cmake/tests.cmake
        if ! setarch -R true 2>/dev/null; then
            skip "the Python package in $1: needs setarch -R"
            return 0
        fi
    fi
    for name in arrays autograd lifetime operators symbols training; do
        files+=("python/tests/test_$name.py")
    done
    rm -f "$scratch"/report.*
    options="allocator_may_return_null=1:log_path=$scratch/report"
    python_tests "$1" "${launcher[@]}" env LD_PRELOAD="$runtime" PYTHONMALLOC=malloc UBSAN_OPTIONS="log_path=$scratch/report" \
        ASAN_OPTIONS="$options:detect_leaks=0:detect_stack_use_after_return=1" \
        TSAN_OPTIONS="$options:atexit_sleep_ms=50:suppressions=$PWD/tests/tsan.supp" \
        /usr/bin/python3 -m pytest "${files[@]}"
    reports=$(cat "$scratch"/report.* 2>/dev/null | grep -m 1 -A 60 -E '(ERROR|WARNING): [A-Za-z]*Sanitizer:|runtime error:') || true
    if [ -n "$reports" ]; then
        failed=$((failed + 1))
        say "FAILED: python/tests in $1 has reports" "$reports"
    fi
}

stage_address() {
    build build/address -DMXC_SANITIZE=address -DMXC_BUILD_BENCH=OFF -DMXC_BUILD_EXAMPLES=OFF -DMXC_BUILD_TOOLS=OFF || true
    run_tests build/address
    sanitized_python build/address
}

stage_thread() {
    build build/thread -DMXC_SANITIZE=thread -DMXC_BUILD_BENCH=OFF -DMXC_BUILD_EXAMPLES=OFF -DMXC_BUILD_TOOLS=OFF || true
    run_tests build/thread
    sanitized_python build/thread
}

# fuzz NAME: one target from its seeds on; its output and how it ended are kept. Readers of data sets run longer.
fuzz() {
    local seconds=10 status=0
    case $1 in record | image_record | csv | libsvm | idx) seconds=30 ;; esac
    mkdir -p "build/fuzz/corpus/$1" "fuzz/corpus/$1"
    "build/fuzz/fuzz/fuzz_$1" -max_total_time="${FUZZ_SECONDS:-$seconds}" -rss_limit_mb=2048 -timeout=10 \
        -artifact_prefix="build/fuzz/$1-" "build/fuzz/corpus/$1" "fuzz/corpus/$1" >"$scratch/$1.log" 2>&1 </dev/null ||
        status=$?
    echo "exit $status" >>"$scratch/$1.log"
}

# fuzzed NAME: prints what fuzz kept, and ends as that did
fuzzed() {
    cat "$scratch/$1.log"
    [ "$(tail -n 1 "$scratch/$1.log")" = "exit 0" ]
}

stage_fuzz() {
    local target names=()
    echo 'int LLVMFuzzerTestOneInput(void); int LLVMFuzzerTestOneInput(void) { return 0; }' >"$scratch/probe.c"
    if ! clang -fsanitize=fuzzer,address -o "$scratch/probe" "$scratch/probe.c" >"$scratch/log" 2>&1; then
        skip "fuzz targets: need clang with libFuzzer (packages clang, libclang-rt-dev)"
        return 0
    fi
    CC=clang build build/fuzz -DMXC_BUILD_FUZZ=ON || return 0
    for target in fuzz/fuzz_*.c; do
        target=${target#fuzz/fuzz_}
        names+=("${target%.c}")
    done
    for target in "${names[@]}"; do
        while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do
            wait -n || true
        done
        fuzz "$target" &
    done
    wait
    for target in "${names[@]}"; do
        try "fuzz_$target" fuzzed "$target" || true
    done
}

say "Tests libmxc: installs missing packages, builds in build/, runs the stages ${stages[*]}."
need_packages "${build_packages[@]}" ccache ninja-build clang-format g++ binutils libcmocka-dev clang libclang-rt-dev dataset-fashion-mnist \
    libopenmpi-dev openmpi-bin pandoc python3-pycparser luajit lua-cjson python3-cffi python3-numpy python3-pytest mypy
for stage in "${stages[@]}"; do
    start=$SECONDS before=$passed
    say "== $stage"
    "stage_$stage" || true
    say "   $((passed - before)) passed in $((SECONDS - start)) s"
done

summary="$passed passed, $failed failed"
[ $skipped = 0 ] || summary+=", $skipped skipped"
say "$summary"
[ $failed = 0 ]
