# How tests are found.
#
#   *_test.cc beside the code and below tests/   one GoogleTest program per folder of src/ and of
#                                                tests/, one ctest entry per file
#   tests/**/*_test.c                            a plain C program against libcairn.so; 0 is success
#   tests/**/*_test.sh, *_test.py                scripts; exit code 77 says "skipped"
#   tests/**/*_program.cc, *_program.c           helper executables for tests: $CAIRN_TEST_DIR/GROUP/NAME
#   tests/fortran/*_program.F90                  built for every MPI: $CAIRN_TEST_DIR/fortran/MPI/NAME
#   tests/cluster/*_program.cc                   built for every MPI: $CAIRN_TEST_DIR/cluster/MPI/NAME
#   tests/fuzz/fuzz_*.cc                         libFuzzer targets, with CAIRN_FUZZ only
#   tests/support/**/other .cc                   one library, which all tests below tests/ may use
#   tests/GROUP/**/other .cc                     linked into each *_test.cc and *_program.cc of that folder
#
# Below tests/slow/ tests get the label `slow` and run only in `make test-slow`. A test whose name
# ends in _serial_test runs alone (it measures time, or fills the machine's memory).
# Every test finds CAIRN_SOURCE_DIR, CAIRN_BUILD_DIR, CAIRN_BIN_DIR, CAIRN_LIB_DIR and CAIRN_TEST_DIR
# in its environment. `ninja test_GROUP` builds the tests of one folder; test_core, the unit tests of
# src/, which have the label `core`.

set(CAIRN_TEST_DIR ${CMAKE_BINARY_DIR}/tests)
set(CAIRN_TEST_TIMEOUT_S 900 CACHE STRING "Time limit of a test, in seconds")

if(CAIRN_TESTS)
  find_package(GTest)
  if(NOT GTest_FOUND)
    message(WARNING "GoogleTest is missing (scripts/setup.sh installs it): no tests are built")
    set(CAIRN_TESTS OFF)
  endif()
  enable_testing()
endif()

if(CAIRN_SANITIZE MATCHES "address" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=libasan.so
    OUTPUT_VARIABLE CAIRN_ASAN_RUNTIME OUTPUT_STRIP_TRAILING_WHITESPACE)
  file(REAL_PATH ${CAIRN_ASAN_RUNTIME} CAIRN_ASAN_RUNTIME)
endif()

# Tests link statically, 150 MB of debug information each: in the release preset they go without, which
# takes half the time and a tenth of the disk. Who debugs a test builds the dev preset.
add_library(cairn_test_flags INTERFACE)
target_link_libraries(cairn_test_flags INTERFACE cairn_flags)
if(NOT CAIRN_SANITIZE)
  target_compile_options(cairn_test_flags INTERFACE
    $<$<AND:$<CONFIG:RelWithDebInfo>,$<COMPILE_LANGUAGE:C,CXX>>:-O1 -g0>)
  target_link_options(cairn_test_flags INTERFACE $<$<CONFIG:RelWithDebInfo>:-Wl,--strip-debug>)
endif()

# What every ctest entry has in common.
function(cairn_test_properties name group)
  set(labels ${group})
  set(timeout ${CAIRN_TEST_TIMEOUT_S})
  if(group MATCHES "^slow")
    list(APPEND labels slow)
    set(timeout 7200)
  endif()
  set(environment
    CAIRN_SOURCE_DIR=${CMAKE_SOURCE_DIR} CAIRN_BUILD_DIR=${CMAKE_BINARY_DIR}
    CAIRN_BIN_DIR=${CMAKE_BINARY_DIR}/bin CAIRN_LIB_DIR=${CMAKE_BINARY_DIR}/lib
    CAIRN_TEST_DIR=${CAIRN_TEST_DIR} "CAIRN_SANITIZE=${CAIRN_SANITIZE}"
    CAIRN_CC=${CMAKE_C_COMPILER} CAIRN_CXX=${CMAKE_CXX_COMPILER}
    UBSAN_OPTIONS=print_stacktrace=1)
  if(CAIRN_COVERAGE)
    list(APPEND environment CAIRN_COVERAGE=1)
  endif()
  if(CAIRN_SANITIZE OR CAIRN_COVERAGE)
    # These look at what the code does; that every image recovers is for the builds ten times as fast.
    list(APPEND environment CAIRN_CRASH_IMAGES=1 CAIRN_INTERLEAVINGS=1 CAIRN_LONG_IMAGES=200
      CAIRN_RECOVERY_STRIDE=4000 CAIRN_KILL_STRIDE=19)
  endif()
  if(CAIRN_SANITIZE MATCHES "address" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # What is preloaded into strangers' programs, which leak what they like.
    list(APPEND environment CAIRN_PRELOAD_FIRST=${CAIRN_ASAN_RUNTIME})
    if(group MATCHES "adapter|bench|cli|mpi|cluster")
      list(APPEND environment ASAN_OPTIONS=detect_leaks=0:verify_asan_link_order=0)
    endif()
  endif()
  set_tests_properties(${name} PROPERTIES
    LABELS "${labels}" TIMEOUT ${timeout} ENVIRONMENT "${environment}" SKIP_RETURN_CODE 77)
  if(name MATCHES "_serial_test")
    set_tests_properties(${name} PROPERTIES RUN_SERIAL TRUE)
  endif()
endfunction()

# `ninja test_GROUP` builds all that a group's tests need.
function(cairn_group_target group target)
  string(REPLACE "/" "_" name test_${group})
  if(NOT TARGET ${name})
    add_custom_target(${name})
  endif()
  add_dependencies(${name} ${target})
endfunction()

# One GoogleTest program of all FILES below `base`: tests/GROUP/unit_tests, or tests/GROUP/tests for
# those of tests/. Each file has a ctest entry, whose command is a link to the program: under that
# name it runs the tests of that file.
function(cairn_unit_tests group base)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "FILES;SOURCES;LIBRARIES;INCLUDES")
  if(NOT arg_FILES)
    return()
  endif()
  set(program unit_tests)
  if(base MATCHES "^${CMAKE_SOURCE_DIR}/tests/")
    set(program tests)
  endif()
  string(MAKE_C_IDENTIFIER ${group}_${program} target)
  set(main ${CMAKE_SOURCE_DIR}/cmake/unit_tests.cc)
  add_executable(${target} ${arg_FILES} ${arg_SOURCES} ${main})
  target_link_libraries(${target} PRIVATE cairn_test_flags ${arg_LIBRARIES}
    GTest::gtest Threads::Threads)
  # Fixtures are in tests/support.
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/tests ${arg_INCLUDES})
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${program} RUNTIME_OUTPUT_DIRECTORY ${CAIRN_TEST_DIR}/${group})
  cairn_precompile(${target} test)
  cairn_compile_in_batches(${target})
  foreach(file IN LISTS arg_FILES)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${base})
    cmake_path(REMOVE_EXTENSION file OUTPUT_VARIABLE name)
    cmake_path(GET file PARENT_PATH folder)
    set(link ${CAIRN_TEST_DIR}/${group}/${name})
    file(MAKE_DIRECTORY ${CAIRN_TEST_DIR}/${group}/${folder})
    file(CREATE_LINK ${CAIRN_TEST_DIR}/${group}/${program} ${link} SYMBOLIC)
    add_test(NAME ${group}/${name} COMMAND ${link})
    cmake_path(SET in NORMALIZE ${group}/${folder})
    string(REGEX REPLACE "/$" "" in ${in})
    cairn_test_properties(${group}/${name} ${in})
    cairn_group_target(${in} ${target})
    if(base MATCHES "^${CMAKE_SOURCE_DIR}/src/")
      set_property(TEST ${group}/${name} APPEND PROPERTY LABELS core)
    endif()
  endforeach()
  if(base MATCHES "^${CMAKE_SOURCE_DIR}/src/")
    cairn_group_target(core ${target})
  endif()
endfunction()

# Everything below tests/.
function(cairn_tests)
  set(root ${CMAKE_SOURCE_DIR}/tests)
  set(see ${root} ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS
    ${root}/*.cc ${root}/*_test.c ${root}/*_program.c ${root}/*_test.sh ${root}/*_test.py)

  set(groups "")
  foreach(file IN LISTS files)
    cmake_path(GET file PARENT_PATH group)
    cmake_path(RELATIVE_PATH group BASE_DIRECTORY ${root})
    cmake_path(GET file STEM LAST_ONLY stem)
    cmake_path(GET file EXTENSION LAST_ONLY extension)
    string(MAKE_C_IDENTIFIER "${group}" prefix)
    if(group STREQUAL "mpi" AND extension STREQUAL ".cc")
      list(APPEND mpi_sources ${file})
    elseif(group STREQUAL "cluster" AND stem MATCHES "_program$" AND extension STREQUAL ".cc")
      list(APPEND cluster_programs ${file})
    elseif(stem MATCHES "^fuzz_" AND extension STREQUAL ".cc")
      list(APPEND fuzzers ${file})
    elseif(extension MATCHES "^\\.cc?$" AND stem MATCHES "_test$")
      list(APPEND tests_${prefix} ${file})
    elseif(extension MATCHES "^\\.cc?$" AND stem MATCHES "_program$")
      list(APPEND programs_${prefix} ${file})
    elseif(extension STREQUAL ".cc" AND group MATCHES "^support(/|$)")
      list(APPEND support_sources ${file})
    elseif(extension STREQUAL ".cc")
      list(APPEND helpers_${prefix} ${file})
    else()
      cairn_script_test(${file} ${group}/${stem} ${group})
    endif()
    list(APPEND groups ${group})
  endforeach()
  list(REMOVE_DUPLICATES groups)

  # Optimized as the libraries are: the crash tests replay millions of stores in it.
  add_library(cairn_test_support STATIC EXCLUDE_FROM_ALL ${support_sources})
  target_link_libraries(cairn_test_support PRIVATE cairn_flags PUBLIC cairn_capi)
  target_include_directories(cairn_test_support PRIVATE ${see})

  # One program of tests/mpi/, and each of tests/cluster/, built for every MPI.
  foreach(mpi IN LISTS CAIRN_MPIS)
    add_executable(mpi_conformance_${mpi} ${mpi_sources})
    target_link_libraries(mpi_conformance_${mpi} PRIVATE cairn_test_flags)
    cairn_use_mpi(mpi_conformance_${mpi} ${mpi} LINK)
    set_target_properties(mpi_conformance_${mpi} PROPERTIES
      OUTPUT_NAME conformance RUNTIME_OUTPUT_DIRECTORY ${CAIRN_TEST_DIR}/mpi/${mpi})
    cairn_group_target(mpi mpi_conformance_${mpi})
    add_dependencies(test_mpi cairn_mpiio_${mpi} cairn_posix_preload)
    foreach(file IN LISTS cluster_programs)
      cmake_path(GET file STEM stem)
      add_executable(cluster_${stem}_${mpi} ${file})
      # Some use libcairn themselves; the others do not even load it.
      target_link_libraries(cluster_${stem}_${mpi} PRIVATE cairn_test_flags -Wl,--as-needed cairn)
      cairn_use_mpi(cluster_${stem}_${mpi} ${mpi} LINK)
      set_target_properties(cluster_${stem}_${mpi} PROPERTIES
        OUTPUT_NAME ${stem} RUNTIME_OUTPUT_DIRECTORY ${CAIRN_TEST_DIR}/cluster/${mpi})
      cairn_group_target(cluster cluster_${stem}_${mpi})
    endforeach()
  endforeach()

  foreach(group IN LISTS groups)
    string(MAKE_C_IDENTIFIER "${group}" prefix)
    set(objects "")
    if(helpers_${prefix})
      add_library(${prefix}_helpers OBJECT ${helpers_${prefix}})
      target_link_libraries(${prefix}_helpers PRIVATE cairn_test_flags cairn_capi GTest::gtest)
      target_include_directories(${prefix}_helpers PRIVATE ${see})
      cairn_precompile(${prefix}_helpers fixture)
      set(objects $<TARGET_OBJECTS:${prefix}_helpers>)
    endif()
    foreach(file IN LISTS programs_${prefix})
      get_filename_component(stem ${file} NAME_WE)
      add_executable(${prefix}_${stem} ${file})
      if(file MATCHES "\\.cc$")
        target_sources(${prefix}_${stem} PRIVATE ${objects})
        target_link_libraries(${prefix}_${stem} PRIVATE cairn_test_support cairn_capi GTest::gtest)
      endif()
      target_link_libraries(${prefix}_${stem} PRIVATE cairn_test_flags Threads::Threads ${CMAKE_DL_LIBS})
      target_include_directories(${prefix}_${stem} PRIVATE ${see})
      set_target_properties(${prefix}_${stem} PROPERTIES
        OUTPUT_NAME ${stem} RUNTIME_OUTPUT_DIRECTORY ${CAIRN_TEST_DIR}/${group})
      cairn_group_target(${group} ${prefix}_${stem})
    endforeach()
    set(c_tests ${tests_${prefix}})
    list(FILTER c_tests INCLUDE REGEX "\\.c$")
    list(REMOVE_ITEM tests_${prefix} ${c_tests})
    foreach(file IN LISTS c_tests)
      cairn_c_test(${file} ${group} ${prefix})
    endforeach()
    cairn_unit_tests(${group} ${root}/${group} FILES ${tests_${prefix}} SOURCES ${objects}
      LIBRARIES cairn_test_support cairn_capi ${CMAKE_DL_LIBS} INCLUDES ${see})
  endforeach()

  file(GLOB programs CONFIGURE_DEPENDS ${root}/fortran/*_program.F90)
  foreach(file IN LISTS programs)
    cmake_path(GET file STEM stem)
    cairn_fortran_programs(fortran_${stem} ${file} ${stem} ${CAIRN_TEST_DIR}/fortran GROUP fortran)
  endforeach()

  if(CAIRN_FUZZ)
    foreach(file IN LISTS fuzzers)
      get_filename_component(stem ${file} NAME_WE)
      add_executable(${stem} ${file})
      target_link_libraries(${stem} PRIVATE cairn_test_flags cairn_capi -fsanitize=fuzzer)
      target_include_directories(${stem} PRIVATE ${see})
      set_target_properties(${stem} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/fuzz)
    endforeach()
  endif()
endfunction()

function(cairn_c_test file group prefix)
  get_filename_component(stem ${file} NAME_WE)
  set(target ${prefix}_${stem})
  add_executable(${target} ${file})
  target_link_libraries(${target} PRIVATE cairn_test_flags cairn Threads::Threads)
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${stem} RUNTIME_OUTPUT_DIRECTORY ${CAIRN_TEST_DIR}/${group})
  add_test(NAME ${group}/${stem} COMMAND ${target})
  cairn_test_properties(${group}/${stem} ${group})
  cairn_group_target(${group} ${target})
endfunction()

function(cairn_script_test file name group)
  if(file MATCHES "\\.py$")
    add_test(NAME ${name} COMMAND python3 -B ${file})
  else()
    add_test(NAME ${name} COMMAND bash ${file})
  endif()
  cairn_test_properties(${name} ${group})
endfunction()
