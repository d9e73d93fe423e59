# SPDX-License-Identifier: Apache-2.0
# Modules are looked for beside the program that libmxc is linked into: a link in each of these folders of the build.
function(link_module_beside_programs module)
    foreach(folder ${ARGN})
        add_custom_command(TARGET ${module} POST_BUILD
            COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/${folder}
            COMMAND ${CMAKE_COMMAND} -E create_symlink ../$<TARGET_FILE_NAME:${module}>
                ${CMAKE_BINARY_DIR}/${folder}/$<TARGET_FILE_NAME:${module}>)
    endforeach()
endfunction()
