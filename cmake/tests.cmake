# SPDX-License-Identifier: Apache-2.0
# Every tests/<directory>/test_<file>.c becomes the executable test_<directory>_<file> and the ctest case <directory>/test_<file>.
# Other .c files of a directory and of its subdirectories are helpers, linked into each test of that directory.

set(MXC_TESTS "." CACHE STRING "Regular expression of the tests to build; a part needs MXC_BUILD_MPI and _FAKE_GPU off")
set(test_launcher "")
set(test_timeout 300)
if(MXC_SANITIZE STREQUAL thread)
    set(test_timeout 600)
    # The thread sanitizer of gcc 12 does not know the address layout of new kernels. Not allowed in every container.
    execute_process(COMMAND setarch -R true RESULT_VARIABLE refused OUTPUT_QUIET ERROR_QUIET)
    if(NOT refused)
        set(test_launcher setarch -R)
    endif()
elseif(MXC_SANITIZE STREQUAL address)
    set(test_timeout 600)
endif()
set(test_environment
    "ASAN_OPTIONS=allocator_may_return_null=1:detect_stack_use_after_return=1"
    "UBSAN_OPTIONS=print_stacktrace=1"
    "TSAN_OPTIONS=allocator_may_return_null=1:halt_on_error=0:second_deadlock_stack=1:atexit_sleep_ms=50:suppressions=${CMAKE_SOURCE_DIR}/tests/tsan.supp")

file(GLOB test_sources CONFIGURE_DEPENDS tests/*/test_*.c tests/*/test_*.cpp)
if(NOT TARGET mxc_fake_gpu)
    list(FILTER test_sources EXCLUDE REGEX "/fake_gpu/|/cuda/")
endif()
look_for_language(CXX)
if(CMAKE_CXX_COMPILER)
    enable_language(CXX)
    set(CMAKE_CXX_STANDARD 17)
    set(CMAKE_CXX_STANDARD_REQUIRED ON)
    set(CMAKE_CXX_EXTENSIONS OFF)
else()
    list(FILTER test_sources EXCLUDE REGEX "[.]cpp$")
endif()
if(NOT TARGET mxc_mpi OR NOT MXC_SANITIZE STREQUAL none)
    list(FILTER test_sources EXCLUDE REGEX "/mpi/") # tests/kvstore plays the group, under sanitizers too
endif()

# Hundreds of programs are linked: by gold in a quarter of the time that the default linker takes.
include(CheckLinkerFlag)
check_linker_flag(C -fuse-ld=gold MXC_HAVE_GOLD)

if(NOT TARGET mxnet_objects)
    list(FILTER test_sources EXCLUDE REGEX "/compat/")
endif()

function(use_test_settings target)
    target_include_directories(${target} PRIVATE src tests)
    target_compile_definitions(${target} PRIVATE MXC_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
    target_link_libraries(${target} PRIVATE mxc_static PkgConfig::cmocka ${dependencies})
    if(MXC_HAVE_GOLD)
        target_link_options(${target} PRIVATE -fuse-ld=gold)
    endif()
endfunction()

# Makes helpers_<directory> from the other sources of the directory and its subdirectories, if it has any.
function(add_helpers directory)
    file(GLOB helpers CONFIGURE_DEPENDS tests/${directory}/*.c tests/${directory}/*/*.c)
    list(FILTER helpers EXCLUDE REGEX "/test_[^/]*$")
    if(helpers AND NOT TARGET helpers_${directory})
        add_library(helpers_${directory} OBJECT ${helpers})
        use_test_settings(helpers_${directory})
    endif()
endfunction()

# The table of exported functions that tests/api/test_null.c goes through, made from the public headers.
file(GLOB public_headers CONFIGURE_DEPENDS include/mxc/*.h)
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/tests/exports/exports.inc
    COMMAND awk -f ${CMAKE_SOURCE_DIR}/tests/api/exports.awk ${public_headers}
        > ${CMAKE_BINARY_DIR}/tests/exports/exports.inc
    DEPENDS tests/api/exports.awk ${public_headers} VERBATIM)
# The tables in which the compiler says what tests/api/test_description.c finds described.
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/tests/exports/description.inc
    COMMAND awk -f ${CMAKE_SOURCE_DIR}/tests/api/description.awk ${CMAKE_SOURCE_DIR}/docs/reference/api.json
        > ${CMAKE_BINARY_DIR}/tests/exports/description.inc
    DEPENDS tests/api/description.awk docs/reference/api.json VERBATIM)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/tests/exports)

# The structs of settings that tests/cpp/test_settings.cpp compares with the registry.
file(GLOB operator_headers CONFIGURE_DEPENDS include/mxc/operators/*.hpp)
add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/tests/exports/settings.inc
    COMMAND sed -n "s/^struct \\(.*\\)_settings {$/SETTINGS(\\1)/p" ${operator_headers}
        > ${CMAKE_BINARY_DIR}/tests/exports/settings.inc
    DEPENDS ${operator_headers} VERBATIM)

foreach(source ${test_sources})
    get_filename_component(directory ${source} DIRECTORY)
    get_filename_component(directory ${directory} NAME)
    get_filename_component(file ${source} NAME_WE)
    if(NOT "${directory}/${file}" MATCHES "${MXC_TESTS}")
        continue()
    endif()
    string(REGEX REPLACE "^test_" "test_${directory}_" target ${file})
    add_executable(${target} ${source})
    use_test_settings(${target})
    add_helpers(${directory})
    if(TARGET helpers_${directory})
        target_sources(${target} PRIVATE $<TARGET_OBJECTS:helpers_${directory}>)
    endif()
    if(directory STREQUAL compat)
        target_sources(${target} PRIVATE $<TARGET_OBJECTS:mxnet_objects>)
    endif()
    if(target STREQUAL test_api_null)
        target_sources(${target} PRIVATE ${CMAKE_BINARY_DIR}/tests/exports/exports.inc)
        target_include_directories(${target} PRIVATE ${CMAKE_BINARY_DIR}/tests/exports)
    elseif(target STREQUAL test_cpp_settings)
        target_sources(${target} PRIVATE ${CMAKE_BINARY_DIR}/tests/exports/settings.inc)
        target_include_directories(${target} PRIVATE ${CMAKE_BINARY_DIR}/tests/exports)
    elseif(target STREQUAL test_api_description)
        target_sources(${target} PRIVATE ${CMAKE_BINARY_DIR}/tests/exports/description.inc)
        target_include_directories(${target} PRIVATE ${CMAKE_BINARY_DIR}/tests/exports)
        if(MXC_SANITIZE STREQUAL none)
            target_compile_definitions(${target} PRIVATE MXC_LIBRARY="$<TARGET_FILE:mxc>")
            target_link_libraries(${target} PRIVATE ${CMAKE_DL_LIBS})
            add_dependencies(${target} mxc)
        endif()
    endif()
    set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    add_test(NAME ${directory}/${file} COMMAND ${test_launcher} $<TARGET_FILE:${target}>)
    set_tests_properties(${directory}/${file} PROPERTIES LABELS ${directory} TIMEOUT ${test_timeout}
        ENVIRONMENT "${test_environment}")
endforeach()

# Libraries of operators that a test loads. They find the library's functions in the test, which it is linked into.
if(TARGET test_operator_part)
    foreach(variant GOOD OLD FOREIGN FAILING)
        add_library(test_op_library_${variant} MODULE tests/install/op_library.c)
        target_include_directories(test_op_library_${variant} PRIVATE include)
        target_compile_definitions(test_op_library_${variant} PRIVATE ${variant})
        set_target_properties(test_op_library_${variant} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
        add_dependencies(test_operator_part test_op_library_${variant})
    endforeach()
    target_compile_definitions(test_operator_part PRIVATE LIBRARIES="${CMAKE_BINARY_DIR}/tests")
    set_target_properties(test_operator_part PROPERTIES ENABLE_EXPORTS ON)
endif()

# The LuaJIT binding, where LuaJIT and its decoder of JSON are. The shared runtime of a sanitizer, which gcc has, is loaded
# before them.
set(lua_launcher "")
set(lua_can_run ON)
if(NOT MXC_SANITIZE STREQUAL none)
    string(SUBSTRING ${MXC_SANITIZE} 0 1 initial)
    execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=lib${initial}san.so OUTPUT_VARIABLE runtime
        OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    set(lua_launcher ${test_launcher} ${CMAKE_COMMAND} -E env LD_PRELOAD=${runtime})
    if(NOT CMAKE_C_COMPILER_ID STREQUAL GNU OR NOT EXISTS "${runtime}")
        set(lua_can_run OFF)
    endif()
endif()
if(lua_can_run AND "lua/test_mxc" MATCHES "${MXC_TESTS}")
    find_program(MXC_LUAJIT luajit)
    mark_as_advanced(MXC_LUAJIT)
    if(MXC_LUAJIT)
        execute_process(COMMAND ${MXC_LUAJIT} -e "require 'cjson'" RESULT_VARIABLE lacks_cjson OUTPUT_QUIET ERROR_QUIET)
    endif()
    if(MXC_LUAJIT AND NOT lacks_cjson)
        list(APPEND features lua)
        add_test(NAME lua/test_mxc COMMAND ${lua_launcher} ${MXC_LUAJIT} ${CMAKE_SOURCE_DIR}/tests/lua/test_mxc.lua)
        set_tests_properties(lua/test_mxc PROPERTIES LABELS lua TIMEOUT ${test_timeout}
            ENVIRONMENT "${test_environment};LIBMXC_LIBRARY=$<TARGET_FILE:mxc>")
    endif()
endif()

# The longest tests start first, so that no processor waits for one of them at the end.
foreach(test models/test_models operator/test_operators kvstore/test_dist rewrite/test_quantize_network train/test_resume)
    if(TEST ${test})
        set_property(TEST ${test} PROPERTY COST 50)
    endif()
endforeach()

# MXNet's own front end, where LIBMXC_MXNET_PYTHON names a Python that has it.
if(TARGET mxnet AND MXC_SANITIZE STREQUAL none)
    add_test(NAME compat/front COMMAND ${CMAKE_SOURCE_DIR}/tests/compat/front.sh $<TARGET_FILE:mxnet>)
    set_tests_properties(compat/front PROPERTIES LABELS compat TIMEOUT 600 SKIP_RETURN_CODE 77)
endif()

# Loading and closing the library while running, again and again.
add_executable(test_install_load tests/install/load.c)
set_target_properties(test_install_load PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
target_include_directories(test_install_load PRIVATE include)
target_link_libraries(test_install_load PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
add_dependencies(test_install_load mxc)
set(modules "")
if(TARGET mxc_mpi)
    list(APPEND modules $<TARGET_FILE:mxc_mpi>)
    add_dependencies(test_install_load mxc_mpi)
endif()
add_test(NAME install/load COMMAND ${test_launcher} $<TARGET_FILE:test_install_load> $<TARGET_FILE:mxc> ${modules})
set_tests_properties(install/load PROPERTIES LABELS install TIMEOUT ${test_timeout} ENVIRONMENT "${test_environment}")

# Convolution's cases by Winograd's algorithm, also where it is slower.
add_test(NAME operator/winograd COMMAND ${test_launcher} $<TARGET_FILE:test_operator_operators> cpu\(0\) nn_convolution_cases)
set_tests_properties(operator/winograd PROPERTIES LABELS operator TIMEOUT ${test_timeout}
    ENVIRONMENT "${test_environment};MXC_WINOGRAD=2")

# The module's own sources, compiled against an emulated CUDA runtime.
if(TARGET test_cuda_device)
    target_sources(test_cuda_device PRIVATE tests/cuda/runtime/runtime.cpp)
    target_include_directories(test_cuda_device BEFORE PRIVATE tests/cuda/runtime)
endif()

# Tests on the GPU emulator, and the operators' cases once more.
if(TARGET mxc_fake_gpu)
    # A program's kernels: mxc/kernel.cuh with the emulator's queue in place of CUDA's.
    target_sources(test_fake_gpu_kernel PRIVATE tests/fake_gpu/author/operators.cpp)
    target_include_directories(test_fake_gpu_kernel PRIVATE tests/fake_gpu/author)
    # All lists on the naive engine, which calls the functions from one thread: threads that wait for each other after every
    # step of a case would take three times as long. Lists of each kind of work run on the threaded engine, and only these
    # under the thread sanitizer.
    set(threaded_lists custom_custom_cases elementwise_copy_cases nn_batch_norm_cases nn_rnn_cases random_sample_cases
        reduce_reduce_cases tensor_create_cases update_sgd_cases)
    add_test(NAME fake_gpu/operators_threaded COMMAND ${test_launcher} $<TARGET_FILE:test_operator_operators> gpu\(0\)
        ${threaded_lists})
    set_tests_properties(fake_gpu/operators_threaded PROPERTIES LABELS fake_gpu TIMEOUT ${test_timeout} COST 60)
    if(NOT MXC_SANITIZE STREQUAL thread)
        add_test(NAME fake_gpu/operators COMMAND $<TARGET_FILE:test_operator_operators> gpu\(0\))
        set_tests_properties(fake_gpu/operators PROPERTIES LABELS fake_gpu TIMEOUT 900 COST 100
            ENVIRONMENT "${test_environment};MXC_ENGINE=0;MXC_GPU_MODULE=$<TARGET_FILE:mxc_fake_gpu>")
    endif()
    # What a library serves by default, by the module's own kernels; and what it serves only if it is asked to.
    set(lists_layers-0 nn_activation_cases nn_batch_norm_cases nn_convolution_cases
        nn_fully_connected_cases nn_pooling_cases)
    set(lists_deconvolution-0 nn_deconvolution_cases)
    set(lists_rnn-2 nn_rnn_cases)
    foreach(test layers-0 deconvolution-0 rnn-2)
        string(REGEX MATCH "[0-9]$" level ${test})
        add_test(NAME fake_gpu/library-${test} COMMAND ${test_launcher} $<TARGET_FILE:test_operator_operators> gpu\(0\)
            ${lists_${test}})
        set_tests_properties(fake_gpu/library-${test} PROPERTIES LABELS fake_gpu TIMEOUT ${test_timeout} ENVIRONMENT
            "${test_environment};MXC_GPU_DNN=${level};MXC_GPU_MODULE=$<TARGET_FILE:mxc_fake_gpu>")
    endforeach()
    add_test(NAME fake_gpu/dist COMMAND ${test_launcher} $<TARGET_FILE:test_kvstore_dist> gpu\(0\))
    add_test(NAME fake_gpu/shard COMMAND ${test_launcher} $<TARGET_FILE:test_kvstore_shard> gpu\(0\))
    set_tests_properties(fake_gpu/dist fake_gpu/shard PROPERTIES LABELS fake_gpu TIMEOUT ${test_timeout} COST 40)
    add_test(NAME fake_gpu/place COMMAND ${test_launcher} $<TARGET_FILE:test_executor_placement> gpu\(1\) cpu\(0\))
    add_test(NAME fake_gpu/place2 COMMAND ${test_launcher} $<TARGET_FILE:test_executor_placement> gpu\(0\) gpu\(1\))
    add_test(NAME fake_gpu/channels_last COMMAND ${test_launcher} $<TARGET_FILE:test_executor_channels_last> gpu\(0\) float16 1)
    add_test(NAME fake_gpu/channels_last2 COMMAND ${test_launcher} $<TARGET_FILE:test_executor_channels_last> gpu\(0\) float32 2)
    add_test(NAME fake_gpu/control_flow COMMAND ${test_launcher} $<TARGET_FILE:test_executor_control_flow> gpu\(0\))
    add_test(NAME fake_gpu/predict COMMAND ${test_launcher} $<TARGET_FILE:test_predict_predictor> gpu\(0\))
    set_tests_properties(fake_gpu/place fake_gpu/place2 fake_gpu/channels_last fake_gpu/channels_last2 fake_gpu/control_flow
        fake_gpu/predict
        PROPERTIES LABELS fake_gpu TIMEOUT ${test_timeout})
    # Sums between GPUs: as they should be, without a library for them, and with one that fails.
    set_property(TEST kvstore/test_gpu_sums PROPERTY
        ENVIRONMENT "${test_environment};MXC_GPU_MODULE=$<TARGET_FILE:mxc_fake_gpu>")
    foreach(way none refuse fail)
        add_test(NAME fake_gpu/devices-${way} COMMAND ${test_launcher} $<TARGET_FILE:test_kvstore_gpu_sums> ${way})
        set_tests_properties(fake_gpu/devices-${way} PROPERTIES LABELS fake_gpu TIMEOUT ${test_timeout} ENVIRONMENT
            "${test_environment};MXC_GPU_MODULE=$<TARGET_FILE:mxc_fake_gpu>")
    endforeach()
    # The archive for a machine with a GPU, run on the GPU emulator.
    if(MXC_BUILD_BENCH AND MXC_BUILD_EXAMPLES AND MXC_BUILD_TOOLS AND MXC_SANITIZE STREQUAL none)
        add_test(NAME gpu/bundle COMMAND ${CMAKE_SOURCE_DIR}/tests/gpu/check ${CMAKE_BINARY_DIR})
        set_tests_properties(gpu/bundle PROPERTIES LABELS gpu TIMEOUT 600 SKIP_RETURN_CODE 77)
    endif()
    if(TARGET mxc_cuda) # the module itself, where there may be no GPU
        add_test(NAME kvstore/library COMMAND $<TARGET_FILE:test_kvstore_gpu_sums> library)
        set_tests_properties(kvstore/library PROPERTIES LABELS kvstore TIMEOUT ${test_timeout} ENVIRONMENT
            "${test_environment};MXC_GPU_MODULE=$<TARGET_FILE:mxc_cuda>")
    endif()
    foreach(test operators_threaded control_flow predict dist shard place place2 channels_last channels_last2 test_arrays test_copy
            test_autograd test_failure test_graph_capture test_kernel test_stream test_train)
        set_property(TEST fake_gpu/${test} PROPERTY
            ENVIRONMENT "${test_environment};MXC_GPU_MODULE=$<TARGET_FILE:mxc_fake_gpu>")
    endforeach()
endif()

# Tests over MPI: one process by itself, and several of mpirun.
if(TARGET mxc_mpi AND MXC_SANITIZE STREQUAL none)
    set(mpi_environment "${test_environment};MXC_MPI_MODULE=$<TARGET_FILE:mxc_mpi>"
        "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1")
    set_property(TEST mpi/test_workers PROPERTY ENVIRONMENT "${mpi_environment}")
    add_dependencies(test_mpi_workers mxc_mpi)
    foreach(n 2 3 4)
        add_test(NAME mpi/workers_${n} COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} ${n} ${mpi_oversubscribe}
            $<TARGET_FILE:test_mpi_workers>)
        set_tests_properties(mpi/workers_${n} PROPERTIES LABELS mpi TIMEOUT ${test_timeout} PROCESSORS ${n}
            ENVIRONMENT "${mpi_environment}")
    endforeach()
    if(TARGET train_mnist)
        add_test(NAME mpi/joining COMMAND ${CMAKE_SOURCE_DIR}/tests/mpi/joining.sh ${CMAKE_BINARY_DIR})
        set_tests_properties(mpi/joining PROPERTIES LABELS mpi TIMEOUT ${test_timeout} PROCESSORS 2
            ENVIRONMENT "${mpi_environment}")
        foreach(shard false true)
            add_test(NAME mpi/faults_shard_${shard} COMMAND ${CMAKE_SOURCE_DIR}/tests/mpi/faults.sh ${CMAKE_BINARY_DIR} 1)
            set_tests_properties(mpi/faults_shard_${shard} PROPERTIES LABELS mpi TIMEOUT 600 RUN_SERIAL ON
                ENVIRONMENT "${mpi_environment};KV_PARAMS=shard=${shard}")
        endforeach()
    endif()
endif()
