# SPDX-License-Identifier: Apache-2.0
# The GPU module: src/cuda compiled by nvcc (libmxc_cuda.so, where the CUDA toolkit is), and compiled by the C++ compiler
# for the GPU emulator of the tests (libmxc_fake_gpu.so, where there is one). Both include cuda_platform/*.h; the include path
# decides whether these are src/cuda/nvidia/cuda_platform/ or tests/fake_gpu/cuda_platform/.

file(GLOB_RECURSE gpu_sources CONFIGURE_DEPENDS src/cuda/runtime/*.cu src/cuda/operator/*.cu)

include(CheckLanguage)

# CMake remembers that there was no compiler, also when one has been installed since.
macro(look_for_language language)
    if(NOT CMAKE_${language}_COMPILER)
        unset(CMAKE_${language}_COMPILER CACHE)
    endif()
    check_language(${language})
endmacro()

set(module_link_flags -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/module.map -Wl,--no-undefined ${keep_loaded})

# ---- NVIDIA ---------------------------------------------------------------------------------------------------------

option(MXC_BUILD_CUDA "The GPU module; left out where the CUDA toolkit is absent" ON)
set(MXC_CUDA_ARCHITECTURES "80-real;90" CACHE STRING "GPUs that the module has code for, as CMAKE_CUDA_ARCHITECTURES")

if(MXC_BUILD_CUDA AND MXC_SANITIZE STREQUAL none)
    # By the environment, since a compiler that is set is not tried: without a host compiler that suits it, it is left out.
    if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
        find_program(MXC_NVCC nvcc HINTS /usr/local/cuda/bin /opt/cuda/bin)
        mark_as_advanced(MXC_NVCC)
        if(MXC_NVCC)
            set(ENV{CUDACXX} ${MXC_NVCC})
        endif()
    endif()
    look_for_language(CUDA)
endif()
if(MXC_BUILD_CUDA AND MXC_SANITIZE STREQUAL none AND CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    find_package(CUDAToolkit REQUIRED)
    include(cmake/cudnn.cmake)
    if(MXC_HAVE_CUDNN)
        set(dnn_sources src/cuda/nvidia/cudnn/*.cu)
    else()
        message(STATUS "cuDNN 9 not found: the GPU module computes layers by its own kernels")
        set(dnn_sources src/cuda/nvidia/no_cudnn/*.cu)
    endif()
    include(cmake/nccl.cmake)
    if(MXC_HAVE_NCCL)
        set(nccl_sources src/cuda/nvidia/nccl/*.cu)
    else()
        message(STATUS "NCCL not found: GPUs reduce by copies, processes through the host")
        set(nccl_sources src/cuda/nvidia/no_nccl/*.cu)
    endif()
    file(GLOB nvidia_sources CONFIGURE_DEPENDS src/cuda/nvidia/*.cu ${dnn_sources} ${nccl_sources})
    add_library(mxc_cuda MODULE ${gpu_sources} ${nvidia_sources})
    set_target_properties(mxc_cuda PROPERTIES CUDA_STANDARD 17 CUDA_ARCHITECTURES "${MXC_CUDA_ARCHITECTURES}"
        CUDA_RUNTIME_LIBRARY Static CUDA_VISIBILITY_PRESET hidden INSTALL_RPATH_USE_LINK_PATH ON)
    target_include_directories(mxc_cuda PRIVATE include src src/cuda/nvidia) # the last for cuda_platform/
    target_compile_options(mxc_cuda PRIVATE --extended-lambda --expt-relaxed-constexpr
        -Xcompiler=-fmacro-prefix-map=${CMAKE_SOURCE_DIR}/=)
    target_link_options(mxc_cuda PRIVATE ${module_link_flags})
    target_link_libraries(mxc_cuda PRIVATE CUDA::cublas CUDA::cublasLt)
    if(MXC_HAVE_CUDNN)
        target_include_directories(mxc_cuda SYSTEM PRIVATE ${MXC_CUDNN_INCLUDE_DIR})
        target_link_libraries(mxc_cuda PRIVATE ${MXC_CUDNN_LIBRARY})
    endif()
    if(MXC_HAVE_NCCL)
        target_include_directories(mxc_cuda SYSTEM PRIVATE ${MXC_NCCL_INCLUDE_DIR})
        target_link_libraries(mxc_cuda PRIVATE ${CMAKE_DL_LIBS})
        if(MXC_NCCL_LIBRARY_DIR) # NCCL is loaded, not linked, so its path is added here
            set_target_properties(mxc_cuda PROPERTIES BUILD_RPATH ${MXC_NCCL_LIBRARY_DIR}
                INSTALL_RPATH ${MXC_NCCL_LIBRARY_DIR})
        endif()
    endif()
    link_module_beside_programs(mxc_cuda examples bench tools) # tests name theirs by an option, so that they do not depend on the machine
    install(TARGETS mxc_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
else()
    message(STATUS "CUDA toolkit not found: the GPU module is left out")
endif()

# ---- GPU emulator ---------------------------------------------------------------------------------------------------

option(MXC_BUILD_FAKE_GPU "The GPU emulator of the tests; left out where there is no C++ compiler" ON)

if(MXC_BUILD_TESTS AND MXC_BUILD_FAKE_GPU)
    look_for_language(CXX)
endif()
if(MXC_BUILD_TESTS AND MXC_BUILD_FAKE_GPU AND CMAKE_CXX_COMPILER)
    enable_language(CXX)
    file(GLOB fake_sources CONFIGURE_DEPENDS tests/fake_gpu/*.cpp)
    foreach(source ${gpu_sources})
        file(RELATIVE_PATH name ${CMAKE_SOURCE_DIR}/src/cuda ${source})
        string(REPLACE "/" "_" name ${name})
        set(wrapper ${CMAKE_BINARY_DIR}/fake_gpu/${name}.cpp)
        file(CONFIGURE OUTPUT ${wrapper} CONTENT "#include \"${source}\"\n" @ONLY)
        list(APPEND fake_sources ${wrapper})
    endforeach()
    add_library(mxc_fake_gpu MODULE ${fake_sources})
    set_target_properties(mxc_fake_gpu PROPERTIES CXX_STANDARD 17 CXX_VISIBILITY_PRESET hidden
        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    target_include_directories(mxc_fake_gpu PRIVATE include src tests/fake_gpu) # the last for cuda_platform/
    target_compile_options(mxc_fake_gpu PRIVATE -Wno-pedantic -Wno-missing-field-initializers) # C idioms in shared headers
    if(MXC_SANITIZE STREQUAL none)
        target_link_options(mxc_fake_gpu PRIVATE ${module_link_flags})
    else()
        target_compile_options(mxc_fake_gpu PRIVATE -O0) # compiles in half the time, which is more than its tests take
    endif()
    target_precompile_headers(mxc_fake_gpu PRIVATE src/cuda/runtime/kernel.h) # in all sources: half of the time of most
    target_link_libraries(mxc_fake_gpu PRIVATE Threads::Threads)
    list(APPEND features fake_gpu)
else()
    message(STATUS "The GPU emulator of the tests is left out: it needs a C++ compiler")
endif()
