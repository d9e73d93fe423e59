# SPDX-License-Identifier: Apache-2.0
# The levels of the kernels: *_kernels.c are compiled once for each set of instructions in MXC_CPU_LEVELS, everything else
# for the compiler's default. The library selects a level when it is loaded: docs/internals/base.md.
#
# With one level its objects go into the library as they are. With more, the objects of a level are linked into one whose
# external names get the level's as a suffix, and a generated file defines the names themselves.
#
# Sets kernel_objects (files) and adds the target mxc_kernel_objects, which makes them.

if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    set(known_levels baseline avx2 avx512)
    # Sanitizers and fuzz targets: one level, since each takes a minute to compile there.
    if(MXC_SANITIZE STREQUAL none)
        set(initial_levels "baseline;avx2;avx512")
    else()
        set(initial_levels avx2)
    endif()
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64")
    set(known_levels neon)
    set(initial_levels neon)
else()
    set(known_levels baseline)
    set(initial_levels baseline)
endif()
set(MXC_CPU_LEVELS "${initial_levels}" CACHE STRING
    "Levels of the kernels, rising: baseline (any x86-64), avx2 (with FMA), avx512; sanitizers take one")

set(level_baseline_flags)
set(level_neon_flags)
set(level_avx2_flags -march=x86-64-v3)
set(level_avx512_flags -march=x86-64-v4)
# Beside faster levels, baseline is for old processors, and small.
set(small_flags -Os -fno-tree-vectorize -fno-jump-tables -fno-asynchronous-unwind-tables)
# The kernels that gain from AVX-512 (docs/performance.md); for the others, avx512 takes those of avx2.
set(level_avx512_kernels ".*")

set(levels ${MXC_CPU_LEVELS})
list(LENGTH levels level_count)
string(REPLACE ";" "|" pattern "^(${levels})$")
set(ordered ${known_levels})
list(FILTER ordered INCLUDE REGEX "${pattern}")
if(level_count EQUAL 0 OR NOT "${ordered}" STREQUAL "${levels}")
    message(FATAL_ERROR "MXC_CPU_LEVELS=${levels}: expected some of ${known_levels}, in this order")
endif()
if(level_count GREATER 1 AND NOT MXC_SANITIZE STREQUAL none)
    message(FATAL_ERROR "MXC_CPU_LEVELS=${levels}: a build with MXC_SANITIZE takes one level")
endif()

set(level_files "")
set(symbol_files "")
foreach(level ${levels})
    set(level_sources ${kernels})
    if(level_count GREATER 1 AND DEFINED level_${level}_kernels)
        list(FILTER level_sources INCLUDE REGEX "/(${level_${level}_kernels})_kernels[.]c$")
    endif()
    add_library(mxc_kernels_${level} OBJECT ${level_sources})
    set_target_properties(mxc_kernels_${level} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_include_directories(mxc_kernels_${level} PRIVATE include src)
    target_compile_options(mxc_kernels_${level} PRIVATE ${kernel_flags} ${level_${level}_flags})
    if(level STREQUAL baseline AND level_count GREATER 1)
        target_compile_options(mxc_kernels_${level} PRIVATE ${small_flags})
    endif()
    set(objects $<TARGET_OBJECTS:mxc_kernels_${level}>)
    if(level_count GREATER 1)
        set(file ${CMAKE_BINARY_DIR}/levels/${level})
        add_custom_command(OUTPUT ${file}.o ${file}.symbols
            COMMAND ${CMAKE_SOURCE_DIR}/cmake/level.sh ${level} ${file} ${CMAKE_LINKER} ${CMAKE_NM} ${CMAKE_OBJCOPY}
                ${objects}
            DEPENDS cmake/level.sh mxc_kernels_${level} ${objects} COMMAND_EXPAND_LISTS VERBATIM)
        list(APPEND symbol_files ${file}.symbols)
        set(objects ${file}.o)
    endif()
    list(APPEND level_files ${objects})
endforeach()

set(dispatch ${CMAKE_BINARY_DIR}/levels/dispatch.c)
list(JOIN levels " " level_names)
add_custom_command(OUTPUT ${dispatch}
    COMMAND awk -v "levels=${level_names}" -f ${CMAKE_SOURCE_DIR}/cmake/dispatch.awk ${symbol_files} /dev/null > ${dispatch}
    DEPENDS cmake/dispatch.awk ${symbol_files} VERBATIM)
add_library(mxc_dispatch OBJECT ${dispatch})
set_target_properties(mxc_dispatch PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_include_directories(mxc_dispatch PRIVATE include src)

set(kernel_objects ${level_files} $<TARGET_OBJECTS:mxc_dispatch>)
add_custom_target(mxc_kernel_objects DEPENDS ${level_files} mxc_dispatch)
if(level_count GREATER 1)
    set_source_files_properties(${level_files} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
endif()
