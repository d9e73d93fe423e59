# SPDX-License-Identifier: Apache-2.0
# Finds cuDNN 9: MXC_CUDNN_INCLUDE_DIR, MXC_CUDNN_LIBRARY and, if both are there, MXC_HAVE_CUDNN. Under MXC_CUDNN_ROOT (a
# variable of CMake or the environment), where the CUDA toolkit and the system keep such, or in a Python environment, whose
# package nvidia-cudnn has it in nvidia/cudnn.

set(MXC_CUDNN_ROOT "" CACHE PATH "Location of cuDNN: a directory with include/cudnn.h; searched for if empty")

set(cudnn_places ${MXC_CUDNN_ROOT} $ENV{MXC_CUDNN_ROOT} ${CUDAToolkit_LIBRARY_ROOT} ${CUDAToolkit_BIN_DIR}/..)
find_program(MXC_PYTHON python3)
mark_as_advanced(MXC_PYTHON)
if(MXC_PYTHON)
    execute_process(COMMAND ${MXC_PYTHON} -c "import nvidia.cudnn as package; print(list(package.__path__)[0])"
        OUTPUT_VARIABLE cudnn_in_python OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    list(APPEND cudnn_places ${cudnn_in_python})
endif()
find_path(MXC_CUDNN_INCLUDE_DIR cudnn_version.h HINTS ${cudnn_places} ${CUDAToolkit_INCLUDE_DIRS}
    PATH_SUFFIXES include)
find_library(MXC_CUDNN_LIBRARY NAMES cudnn libcudnn.so.9 NAMES_PER_DIR HINTS ${cudnn_places} ${CUDAToolkit_LIBRARY_DIR}
    PATH_SUFFIXES lib lib64 lib/${CMAKE_LIBRARY_ARCHITECTURE})
mark_as_advanced(MXC_CUDNN_INCLUDE_DIR MXC_CUDNN_LIBRARY)

set(MXC_HAVE_CUDNN OFF)
if(MXC_CUDNN_INCLUDE_DIR AND MXC_CUDNN_LIBRARY)
    file(STRINGS ${MXC_CUDNN_INCLUDE_DIR}/cudnn_version.h cudnn_major REGEX "define CUDNN_MAJOR +[0-9]+")
    string(REGEX REPLACE ".*CUDNN_MAJOR +([0-9]+).*" "\\1" cudnn_major "${cudnn_major}")
    if(cudnn_major EQUAL 9)
        set(MXC_HAVE_CUDNN ON)
    endif()
endif()
