# SPDX-License-Identifier: Apache-2.0
# libmxc searches modules beside the program that it is linked into: creates a link in each of these directories of the build.
function(link_module_beside_programs module)
    foreach(directory ${ARGN})
        add_custom_command(TARGET ${module} POST_BUILD
            COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/${directory}
            COMMAND ${CMAKE_COMMAND} -E create_symlink ../$<TARGET_FILE_NAME:${module}>
                ${CMAKE_BINARY_DIR}/${directory}/$<TARGET_FILE_NAME:${module}>)
    endforeach()
endfunction()
