# SPDX-License-Identifier: Apache-2.0
# The levels of the kernels: *_kernels.c are compiled once for each set of instructions in MXC_CPU_LEVELS, everything else
# for the compiler's default. The library selects a level when it is loaded: docs/internals/base.md.
#
# With one level its objects go into the library as they are. With more, the objects of a level are linked into one whose
# external names get the level's as a suffix, and a generated file defines the names themselves.
#
# Sets kernel_objects (files) and adds the target mxc_levels, which makes those that are no object library's.

if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    set(known_levels baseline avx2 avx512 avx512vnni)
    # Sanitizers and fuzz targets: one level, since each takes a minute to compile there.
    if(MXC_SANITIZE STREQUAL none)
        set(initial_levels "baseline;avx2;avx512;avx512vnni")
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
    "Levels of the kernels, rising: baseline (any x86-64), avx2 (with FMA), avx512, avx512vnni; sanitizers take one")

set(level_baseline_flags)
set(level_neon_flags)
set(level_avx2_flags -march=x86-64-v3)
set(level_avx512_flags -march=x86-64-v4)
set(level_avx512vnni_flags -march=x86-64-v4 -mavx512vnni)
# Beside faster levels, baseline is for old processors, and small: only what is written with vectors is compiled for speed.
set(baseline_flags -fno-tree-vectorize -fno-jump-tables -fno-align-functions -fno-align-jumps -fno-align-loops)
set(baseline_fast "cast|convolution|gemm|int8|packed_convolution|packed_quantized_conv|packed_winograd|quantized_pooling|random|reduce|strided|tile|winograd")
# The kernels that gain from AVX-512 (docs/performance.md); for the others, avx512 takes those of avx2.
set(level_avx512_kernels "activation|convolution|gemm|leaky_relu|packed_convolution|packed_winograd|rnn|winograd")
# Integers of 8 bits; for the others, avx512vnni takes those of avx512.
set(level_avx512vnni_kernels "packed_quantized_conv")

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

list(JOIN levels " " level_names)
message(STATUS "Levels of the kernels: ${level_names}")

function(add_kernels target sources)
    add_library(${target} OBJECT ${sources})
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_include_directories(${target} PRIVATE include src)
    target_compile_options(${target} PRIVATE ${kernel_flags} ${ARGN})
    set(kernel_targets ${kernel_targets} ${target} PARENT_SCOPE)
endfunction()

set(kernel_targets "")
set(generated "")
set(level_files "")
set(symbol_files "")
foreach(level ${levels})
    set(level_sources ${kernels})
    if(level_count GREATER 1 AND DEFINED level_${level}_kernels)
        list(FILTER level_sources INCLUDE REGEX "/(${level_${level}_kernels})_kernels[.]c$")
    endif()
    if(level_count GREATER 1 AND level STREQUAL baseline)
        set(fast ${kernels})
        list(FILTER fast INCLUDE REGEX "/(${baseline_fast})_kernels[.]c$")
        list(REMOVE_ITEM level_sources ${fast})
        add_kernels(mxc_kernels_fast "${fast}" ${baseline_flags})
        add_kernels(mxc_kernels_${level} "${level_sources}" ${baseline_flags} -Os)
        set(objects $<TARGET_OBJECTS:mxc_kernels_${level}> $<TARGET_OBJECTS:mxc_kernels_fast>)
    else()
        add_kernels(mxc_kernels_${level} "${level_sources}" ${level_${level}_flags})
        set(objects $<TARGET_OBJECTS:mxc_kernels_${level}>)
    endif()
    if(level_count GREATER 1)
        set(file ${CMAKE_BINARY_DIR}/levels/${level})
        add_custom_command(OUTPUT ${file}.o ${file}.symbols
            COMMAND ${CMAKE_SOURCE_DIR}/cmake/level.sh ${level} ${file} ${CMAKE_LINKER} ${CMAKE_NM} ${CMAKE_OBJCOPY}
                ${objects}
            DEPENDS cmake/level.sh ${objects} COMMAND_EXPAND_LISTS VERBATIM)
        list(APPEND symbol_files ${file}.symbols)
        set(objects ${file}.o)
        list(APPEND generated ${file}.o)
    endif()
    list(APPEND level_files ${objects})
endforeach()

file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/levels)
set(dispatch ${CMAKE_BINARY_DIR}/levels/dispatch.c)
add_custom_command(OUTPUT ${dispatch}
    COMMAND awk -v "levels=${level_names}" -f ${CMAKE_SOURCE_DIR}/cmake/dispatch.awk ${symbol_files} /dev/null > ${dispatch}
    DEPENDS cmake/dispatch.awk ${symbol_files} VERBATIM)
# One target makes these files, and whatever uses them comes after it: make would run a rule once for each user, at once.
add_custom_target(mxc_levels DEPENDS ${generated} ${dispatch})
foreach(target ${kernel_targets})
    add_dependencies(mxc_levels ${target})
endforeach()
add_library(mxc_dispatch OBJECT ${dispatch})
set_target_properties(mxc_dispatch PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_include_directories(mxc_dispatch PRIVATE include src)
add_dependencies(mxc_dispatch mxc_levels)
set_source_files_properties(${generated} PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
set(kernel_objects ${level_files} $<TARGET_OBJECTS:mxc_dispatch>)
