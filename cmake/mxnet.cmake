# SPDX-License-Identifier: Apache-2.0
# libmxnet.so: MXNet's C interface, for its front ends. It uses the public functions of libmxc.so, which it finds beside itself.
file(GLOB mxnet_sources CONFIGURE_DEPENDS src/compat/*.c)
add_library(mxnet_objects OBJECT ${mxnet_sources})
set_target_properties(mxnet_objects PROPERTIES POSITION_INDEPENDENT_CODE ON)
target_include_directories(mxnet_objects PRIVATE include src)

add_library(mxnet SHARED $<TARGET_OBJECTS:mxnet_objects>)
set_target_properties(mxnet PROPERTIES LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/mxnet.map
    BUILD_RPATH_USE_ORIGIN ON INSTALL_RPATH "$ORIGIN")
target_link_options(mxnet PRIVATE -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/mxnet.map ${shared_link_flags}
    ${keep_loaded})
target_link_libraries(mxnet PRIVATE mxc Threads::Threads m)
install(TARGETS mxnet)
