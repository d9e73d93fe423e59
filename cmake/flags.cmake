# SPDX-License-Identifier: Apache-2.0
# All compiler flags but those of single levels of the kernels, which levels.cmake has.

set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON) # POSIX and GNU declarations for src/base/sys*.c
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_C_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELEASE "-O1 -DNDEBUG") # the GPU emulator of the tests
set(CMAKE_CUDA_FLAGS_RELEASE "-O1 -DNDEBUG") # of the host's side, which launches kernels; kernels are compiled at -O3

set(common_flags -Wall -Wextra -Wpedantic -Wvla -fno-math-errno -fno-trapping-math
    -fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=)
if(MXC_WERROR)
    list(APPEND common_flags -Werror)
endif()
add_compile_options("$<$<COMPILE_LANGUAGE:C,CXX>:${common_flags}>"
    "$<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes;-Wmissing-prototypes>")

set(kernel_flags -ffp-contract=fast -fno-asynchronous-unwind-tables -Wno-psabi) # base/simd.h turns it off for others, but not all notes
if(CMAKE_C_COMPILER_ID STREQUAL GNU) # vector loops as with -O3, but few copies of loops, no vectors for remainders
    list(APPEND kernel_flags -funswitch-loops -ftree-vectorize -fvect-cost-model=dynamic --param=vect-epilogues-nomask=0)
endif()

if(MXC_BUILD_FUZZ)
    if(NOT CMAKE_C_COMPILER_ID MATCHES Clang)
        message(FATAL_ERROR "MXC_BUILD_FUZZ needs clang: configure with CC=clang")
    endif()
    set(MXC_SANITIZE address)
    add_compile_options(-fsanitize=fuzzer-no-link -Wno-pass-failed) # at -O1 loops stay scalar
endif()

# The library's calls of its own public functions are direct, as no program replaces those.
set(shared_link_flags -Wl,--no-undefined -Wl,-z,relro,-z,now -Wl,-Bsymbolic-functions)
# The tables' pointers take 140 KB less of the library in this form, which glibc reads since 2.36. Run, not only linked:
# an older one refuses the file.
if(NOT CMAKE_CROSSCOMPILING)
    include(CheckCSourceRuns)
    set(CMAKE_REQUIRED_FLAGS -fPIE)
    set(CMAKE_REQUIRED_LINK_OPTIONS -pie -Wl,-z,pack-relative-relocs)
    check_c_source_runs("static int x; int *volatile p = &x; int main(void) { return p != &x; }" MXC_PACKS_RELOCATIONS)
    unset(CMAKE_REQUIRED_FLAGS)
    unset(CMAKE_REQUIRED_LINK_OPTIONS)
    if(MXC_PACKS_RELOCATIONS)
        list(APPEND shared_link_flags -Wl,-z,pack-relative-relocs)
    endif()
endif()
set(sanitize_none)
set(sanitize_address -fsanitize=address,undefined -fno-sanitize-recover=all)
set(sanitize_thread -fsanitize=thread)
if(NOT DEFINED sanitize_${MXC_SANITIZE} AND NOT MXC_SANITIZE STREQUAL none)
    message(FATAL_ERROR "MXC_SANITIZE=${MXC_SANITIZE}: expected none, address or thread")
endif()
if(NOT MXC_SANITIZE STREQUAL none)
    # -g1 has the functions and lines of reports; -g would double the time in which the GPU emulator compiles.
    add_compile_options(${sanitize_${MXC_SANITIZE}} -g1 -O1 -fno-omit-frame-pointer)
    add_link_options(${sanitize_${MXC_SANITIZE}})
    set(shared_link_flags) # clang leaves the sanitizer's symbols to the program
endif()

# dlclose must not unload the library: its workers go on, threads of the program that have used it call it when they end,
# and handlers of fork() cannot be unregistered.
set(keep_loaded -Wl,-z,nodelete)

if(CMAKE_BUILD_TYPE STREQUAL Debug OR NOT MXC_SANITIZE STREQUAL none)
    add_compile_definitions(MXCI_CHECKS)
endif()
