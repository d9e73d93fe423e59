# SPDX-License-Identifier: Apache-2.0
# The MPI module, libmxc_mpi.so, where an MPI is found.

option(MXC_BUILD_MPI "The MPI module; left out where no MPI is found" ON)

if(MXC_BUILD_MPI AND MXC_SANITIZE STREQUAL none)
    find_package(MPI COMPONENTS C)
endif()
if(MXC_BUILD_MPI AND MXC_SANITIZE STREQUAL none AND MPI_C_FOUND)
    add_library(mxc_mpi MODULE src/kvstore/mpi/mpi_group.c)
    set_target_properties(mxc_mpi PROPERTIES C_VISIBILITY_PRESET hidden)
    target_include_directories(mxc_mpi PRIVATE include src)
    target_link_libraries(mxc_mpi PRIVATE MPI::MPI_C)
    target_link_options(mxc_mpi PRIVATE -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/module.map ${keep_loaded})
    list(APPEND features mpi)
    link_module_beside_programs(mxc_mpi examples bench tests tools)
    install(TARGETS mxc_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
    # More processes than processors, in tests: OpenMPI has to be asked.
    execute_process(COMMAND ${MPIEXEC_EXECUTABLE} --version OUTPUT_VARIABLE mpi_version ERROR_QUIET)
    set(mpi_oversubscribe "")
    if(mpi_version MATCHES "Open MPI|OpenRTE")
        set(mpi_oversubscribe --oversubscribe)
    endif()
else()
    message(STATUS "MPI not found: the MPI module is left out")
endif()
