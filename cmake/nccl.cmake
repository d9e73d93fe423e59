# SPDX-License-Identifier: Apache-2.0
# Finds NCCL's header, and where its library probably is, which is loaded when it is first needed: MXC_NCCL_INCLUDE_DIR,
# MXC_NCCL_LIBRARY_DIR and, if there is a header of 2.14 or later, MXC_HAVE_NCCL. Under MXC_NCCL_ROOT (a variable of CMake
# or the environment), where the CUDA toolkit and the system keep such, or in a Python environment, whose package
# nvidia-nccl has it in nvidia/nccl.

set(MXC_NCCL_ROOT "" CACHE PATH "Location of NCCL: a directory with include/nccl.h; searched for if empty")

set(nccl_places ${MXC_NCCL_ROOT} $ENV{MXC_NCCL_ROOT} ${CUDAToolkit_LIBRARY_ROOT} ${CUDAToolkit_BIN_DIR}/..)
if(MXC_PYTHON)
    execute_process(COMMAND ${MXC_PYTHON} -c "import nvidia.nccl as package; print(list(package.__path__)[0])"
        OUTPUT_VARIABLE nccl_in_python OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    list(APPEND nccl_places ${nccl_in_python})
endif()
find_path(MXC_NCCL_INCLUDE_DIR nccl.h HINTS ${nccl_places} ${CUDAToolkit_INCLUDE_DIRS} PATH_SUFFIXES include)
find_path(MXC_NCCL_LIBRARY_DIR libnccl.so.2 HINTS ${nccl_places} ${CUDAToolkit_LIBRARY_DIR} PATHS /usr /usr/local
    PATH_SUFFIXES lib lib64 lib/${CMAKE_LIBRARY_ARCHITECTURE})
mark_as_advanced(MXC_NCCL_INCLUDE_DIR MXC_NCCL_LIBRARY_DIR)

set(MXC_HAVE_NCCL OFF)
if(MXC_NCCL_INCLUDE_DIR)
    file(STRINGS ${MXC_NCCL_INCLUDE_DIR}/nccl.h nccl_version REGEX "define NCCL_VERSION_CODE +[0-9]+")
    string(REGEX REPLACE ".*NCCL_VERSION_CODE +([0-9]+).*" "\\1" nccl_version "${nccl_version}")
    if(nccl_version GREATER_EQUAL 21400)
        set(MXC_HAVE_NCCL ON)
    endif()
endif()
