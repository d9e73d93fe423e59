# SPDX-License-Identifier: Apache-2.0
# The libraries of operators that examples/gpu_op loads, beside the examples: libwave_host.so, in C++; and libwave_gpu.so,
# compiled by nvcc, or where there is no CUDA toolkit by the C++ compiler for the GPU emulator of the tests. Program and
# libraries share libmxc.so.

set_target_properties(gpu_op PROPERTIES LINK_LIBRARIES "mxc;m")

function(add_operator_library name source)
    add_library(${name} MODULE ${source})
    target_include_directories(${name} PRIVATE examples/gpu_op)
    target_link_libraries(${name} PRIVATE mxc)
    set_target_properties(${name} PROPERTIES CXX_STANDARD 11 CUDA_STANDARD 17
        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/examples)
    add_dependencies(gpu_op ${name})
endfunction()

look_for_language(CXX)
if(CMAKE_CXX_COMPILER)
    enable_language(CXX)
    list(APPEND features cxx)
    add_operator_library(wave_host examples/gpu_op/wave_host.cpp)
    if(TARGET mxc_cuda)
        add_operator_library(wave_gpu examples/gpu_op/wave_gpu.cu)
        set_target_properties(wave_gpu PROPERTIES CUDA_ARCHITECTURES "${MXC_CUDA_ARCHITECTURES}" CUDA_RUNTIME_LIBRARY Static)
    endif()
    if(TARGET mxc_fake_gpu)
        set(wrapper ${CMAKE_BINARY_DIR}/examples/wave_gpu.cpp)
        file(CONFIGURE OUTPUT ${wrapper} CONTENT "#include \"${CMAKE_SOURCE_DIR}/examples/gpu_op/wave_gpu.cu\"\n" @ONLY)
        add_operator_library(wave_emulated ${wrapper})
        target_include_directories(wave_emulated PRIVATE tests/fake_gpu/author)
    endif()
endif()
