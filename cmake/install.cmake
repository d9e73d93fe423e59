# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` installs. Everything is relative to the prefix, so the installed tree may be moved.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/mxc)
set_target_properties(mxc_static PROPERTIES EXPORT_NAME mxc_static)

install(DIRECTORY include/mxc DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# The description of the interface, for bindings to other languages, and the one for LuaJIT, which reads it.
install(FILES docs/reference/api.json DESTINATION ${CMAKE_INSTALL_DATADIR}/mxc)
install(FILES lua/mxc.lua DESTINATION ${CMAKE_INSTALL_DATADIR}/lua/5.1)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DATADIR}/licenses/mxc)
# Two sets: who links the shared library needs no development packages of ours.
install(TARGETS mxc EXPORT mxc-shared)
install(TARGETS mxc_static EXPORT mxc-static)
install(EXPORT mxc-shared NAMESPACE mxc:: DESTINATION ${package_dir})
install(EXPORT mxc-static NAMESPACE mxc:: DESTINATION ${package_dir})

file(RELATIVE_PATH prefix_from_pc /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
set(private_libraries "")
foreach(package ${packages})
    list(TRANSFORM ${package}_LIBRARIES PREPEND -l OUTPUT_VARIABLE flags)
    list(JOIN flags " " flags)
    string(APPEND private_libraries " ${flags}")
endforeach()
string(STRIP "${private_libraries}" private_libraries)
configure_file(cmake/mxc.pc.in mxc.pc @ONLY)
string(REPLACE ";" " " packages_text "${packages}")
configure_file(cmake/mxc-config.cmake.in mxc-config.cmake @ONLY)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/mxc-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/mxc.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${CMAKE_BINARY_DIR}/mxc-config.cmake ${CMAKE_BINARY_DIR}/mxc-config-version.cmake DESTINATION ${package_dir})
