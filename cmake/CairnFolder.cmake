# A folder becomes a library by lying there.
#
#   src/NAME/*.cc          object library cairn_NAME_objects and static library cairn_NAME
#   src/NAME/*_test.cc     one GoogleTest program, a ctest entry for each (see CairnTest.cmake)
#   src/NAME/FOLDER/       sources and tests of the same library, for each FOLDER in folders.txt
#   src/NAME/folder.cmake  read afterwards if it exists: for what a glob cannot know
#
# Sources are globbed with CONFIGURE_DEPENDS: the next build sees a new file by itself. A folder that
# is missing, empty or holds headers only is an interface library.

set_property(GLOBAL PROPERTY CAIRN_FOLDERS "")

option(CAIRN_UNITY "Compile the sources of a folder as one" ON)

# Reads and writes go through these sources. Compiled as one they miss inlining: a random read of 256
# bytes took a tenth longer.
set(CAIRN_COMPILED_SINGLY src/file/data)

# Compiles the sources of each folder of `target` as one, which takes a quarter of the time: most of a
# source's own goes into headers. The presets dev and clang compile each by itself, so that it needs
# its own headers and every warning holds.
function(cairn_compile_by_folder target)
  if(NOT CAIRN_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${CMAKE_SOURCE_DIR})
    if(folder IN_LIST CAIRN_COMPILED_SINGLY)
      continue()
    endif()
    string(MAKE_C_IDENTIFIER ${folder} folder)
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# Compiles the sources of a test program as few: a test takes as long alone as four together, since
# most of its time goes into headers. Not the whole folder as one, so that processors share the work.
function(cairn_compile_in_batches target)
  if(CAIRN_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  endif()
endfunction()

# Sets `out` to the folders in `directory` (relative to the root), in their order.
function(cairn_folders_in out directory)
  set(list ${CMAKE_SOURCE_DIR}/cmake/folders.txt)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
  file(STRINGS ${list} lines REGEX "^${directory} ")
  string(REGEX REPLACE "^${directory} +" "" folders "${lines}")
  string(REGEX REPLACE "[ ,]" ";" folders "${folders}")
  set(${out} ${folders} PARENT_SCOPE)
endfunction()

# Sets `out` to the .c and .cc files of `directory` that are not tests.
function(cairn_sources out directory)
  file(GLOB sources CONFIGURE_DEPENDS ${directory}/*.cc ${directory}/*.c)
  list(FILTER sources EXCLUDE REGEX "_test\\.cc?$")
  set(${out} ${sources} PARENT_SCOPE)
endfunction()

# Sets `out` to the sources of `directory` and of its folders (see cmake/folders.txt).
function(cairn_all_sources out directory)
  cairn_sources(sources ${CMAKE_SOURCE_DIR}/${directory})
  cairn_folders_in(folders ${directory})
  foreach(folder IN LISTS folders)
    cairn_sources(in_folder ${CMAKE_SOURCE_DIR}/${directory}/${folder})
    list(APPEND sources ${in_folder})
  endforeach()
  set(${out} ${sources} PARENT_SCOPE)
endfunction()

# Sets `out` to the unit tests of `directory` and of its folders.
function(cairn_test_files out directory)
  file(GLOB tests CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${directory}/*_test.cc)
  cairn_folders_in(folders ${directory})
  foreach(folder IN LISTS folders)
    file(GLOB in_folder CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/${directory}/${folder}/*_test.cc)
    list(APPEND tests ${in_folder})
  endforeach()
  set(${out} ${tests} PARENT_SCOPE)
endfunction()

# Stands on the library of the folder `below`, if there is one.
function(cairn_folder name below)
  set(directory ${CMAKE_SOURCE_DIR}/src/${name})
  cairn_all_sources(sources src/${name})

  if(sources)
    add_library(cairn_${name}_objects OBJECT ${sources})
    target_include_directories(cairn_${name}_objects
      PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
    target_link_libraries(cairn_${name}_objects PRIVATE cairn_library_flags)
    cairn_precompile(cairn_${name}_objects product)
    cairn_compile_by_folder(cairn_${name}_objects)
    add_library(cairn_${name} STATIC $<TARGET_OBJECTS:cairn_${name}_objects>)
    set(scope PUBLIC)
    set_property(GLOBAL APPEND PROPERTY CAIRN_FOLDERS ${name})
  else()
    add_library(cairn_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(cairn_${name} ${scope}
    ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
  if(below)
    target_link_libraries(cairn_${name} ${scope} cairn_${below})
  endif()
  target_link_libraries(cairn_${name} ${scope} Threads::Threads)

  if(CAIRN_TESTS)
    cairn_test_files(tests src/${name})
    cairn_unit_tests(${name} ${directory} FILES ${tests} LIBRARIES cairn_${name})
  endif()
  include(${directory}/folder.cmake OPTIONAL)
endfunction()

# lib/libcairn.so and lib/libcairn.a from all folders of src/.
function(cairn_libraries)
  get_property(folders GLOBAL PROPERTY CAIRN_FOLDERS)
  set(objects "")
  foreach(folder IN LISTS folders)
    list(APPEND objects $<TARGET_OBJECTS:cairn_${folder}_objects>)
  endforeach()
  file(GLOB public_headers CONFIGURE_DEPENDS
    ${CMAKE_SOURCE_DIR}/include/cairn/*.h ${CMAKE_SOURCE_DIR}/include/cairn/*.hpp)

  add_library(cairn SHARED ${objects})
  add_library(cairn::cairn ALIAS cairn)
  add_library(cairn_static STATIC ${objects})
  set_target_properties(cairn PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0 LINKER_LANGUAGE CXX)
  set_target_properties(cairn_static PROPERTIES OUTPUT_NAME cairn LINKER_LANGUAGE CXX)
  set_target_properties(cairn cairn_static PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib
    ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib
    PUBLIC_HEADER "${public_headers}")
  target_link_libraries(cairn PRIVATE $<BUILD_INTERFACE:cairn_flags> Threads::Threads)
  target_link_libraries(cairn_static PUBLIC Threads::Threads
    INTERFACE $<BUILD_INTERFACE:cairn_flags>)
  foreach(target cairn cairn_static)
    target_include_directories(${target} INTERFACE
      $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
  endforeach()
  cairn_symbol_map(${CMAKE_BINARY_DIR}/cairn.map)
  cairn_self_contained(cairn ${CMAKE_BINARY_DIR}/cairn.map)
endfunction()

# Writes the version script `map`: libcairn.so exports what include/cairn/api.def names.
function(cairn_symbol_map map)
  set(list ${CMAKE_SOURCE_DIR}/include/cairn/api.def)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${list})
  file(STRINGS ${list} calls REGEX "^CAIRN_CALL\\(")
  set(names "")
  foreach(call IN LISTS calls)
    string(REGEX REPLACE "^CAIRN_CALL\\((.*)\\)$" "    cairn_\\1;\n" name ${call})
    string(APPEND names "${name}")
  endforeach()
  file(CONFIGURE OUTPUT ${map} CONTENT "CAIRN_0.1 {\n  global:\n${names}  local:\n    *;\n};\n")
endfunction()

# adapters/NAME → lib/libcairn_NAME.so, to be preloaded: carries libcairn inside, hidden.
# Carries adapters/engine. Sees include/cairn, engine and its own folder. Version script:
# adapters/NAME/NAME.map, if it exists.
function(cairn_adapter name)
  set(directory ${CMAKE_SOURCE_DIR}/adapters/${name})
  cairn_all_sources(sources adapters/${name})
  if(NOT sources)
    return()
  endif()
  cairn_sources(engine ${CMAKE_SOURCE_DIR}/adapters/engine)
  # Objects by themselves, so that the adapter's unit tests can link those that they need.
  add_library(cairn_adapter_${name}_objects OBJECT ${sources} ${engine})
  target_include_directories(cairn_adapter_${name}_objects PUBLIC
    ${CMAKE_SOURCE_DIR}/adapters ${CMAKE_SOURCE_DIR}/include)
  target_link_libraries(cairn_adapter_${name}_objects PRIVATE cairn_library_flags)
  cairn_precompile(cairn_adapter_${name}_objects product)
  cairn_compile_by_folder(cairn_adapter_${name}_objects)

  add_library(cairn_${name}_preload SHARED $<TARGET_OBJECTS:cairn_adapter_${name}_objects>)
  set_target_properties(cairn_${name}_preload PROPERTIES OUTPUT_NAME cairn_${name}
    LINKER_LANGUAGE CXX LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
  target_link_libraries(cairn_${name}_preload PRIVATE cairn_flags cairn_static ${CMAKE_DL_LIBS})
  cairn_self_contained(cairn_${name}_preload ${directory}/${name}.map)

  # The unit tests leave exports.cc out, and runtime.cc defines functions of the standard library.
  set_source_files_properties(${directory}/entry/exports.cc ${directory}/core/runtime.cc PROPERTIES
    SKIP_UNITY_BUILD_INCLUSION ON)
  set_source_files_properties(${directory}/core/runtime.cc PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  if(CAIRN_TESTS)
    # Of the adapter's objects a test takes those that it needs. entry/exports.cc is left out, or the
    # test's own calls would be intercepted.
    set(parts cairn_adapter_${name}_parts)
    add_library(${parts} STATIC EXCLUDE_FROM_ALL
      $<FILTER:$<TARGET_OBJECTS:cairn_adapter_${name}_objects>,EXCLUDE,/entry/exports[.]>)
    set_target_properties(${parts} PROPERTIES LINKER_LANGUAGE CXX)
    target_include_directories(${parts} PUBLIC
      ${CMAKE_SOURCE_DIR}/adapters ${CMAKE_SOURCE_DIR}/include)
    target_link_libraries(${parts} PUBLIC cairn_static ${CMAKE_DL_LIBS})
    cairn_test_files(tests adapters/${name})
    cairn_unit_tests(${name} ${directory} FILES ${tests} LIBRARIES ${parts})
  endif()
  include(${directory}/folder.cmake OPTIONAL)
endfunction()

# cli/*.cc and those of its folders → bin/cairn. Sees include/cairn; links libcairn.a, so that the
# command needs no library path.
function(cairn_cli)
  set(directory ${CMAKE_SOURCE_DIR}/cli)
  cairn_all_sources(sources cli)
  set(main ${directory}/main.cc)
  if(NOT EXISTS ${main})
    return()
  endif()
  find_package(CLI11 REQUIRED)
  find_package(fmt REQUIRED)
  find_package(yaml-cpp REQUIRED)
  find_package(nlohmann_json REQUIRED)

  # All but main.cc by themselves, so that the unit tests can link them.
  list(REMOVE_ITEM sources ${main})
  add_library(cairn_cli INTERFACE)
  if(sources)
    add_library(cairn_cli_objects OBJECT ${sources})
    target_link_libraries(cairn_cli_objects PUBLIC cairn_cli)
    # Templates of JSON and options take minutes to optimize, and nobody waits for them.
    target_compile_options(cairn_cli_objects PRIVATE $<$<CONFIG:RelWithDebInfo>:-O1 -g1>)
    cairn_precompile(cairn_cli_objects command)
    cairn_compile_by_folder(cairn_cli_objects)
    set(objects $<TARGET_OBJECTS:cairn_cli_objects>)
  endif()
  target_include_directories(cairn_cli INTERFACE ${directory} ${CMAKE_SOURCE_DIR}/include)
  target_link_libraries(cairn_cli INTERFACE cairn_flags cairn_static CLI11::CLI11
    fmt::fmt nlohmann_json::nlohmann_json)
  # yaml-cpp 0.7 exports a plain target, 0.8 a namespaced one.
  if(TARGET yaml-cpp::yaml-cpp)
    target_link_libraries(cairn_cli INTERFACE yaml-cpp::yaml-cpp)
  else()
    target_link_libraries(cairn_cli INTERFACE yaml-cpp)
  endif()

  add_executable(cairn_command ${main} ${objects})
  target_link_libraries(cairn_command PRIVATE cairn_cli)
  set_target_properties(cairn_command PROPERTIES OUTPUT_NAME cairn
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

  if(CAIRN_TESTS)
    cairn_test_files(tests cli)
    cairn_unit_tests(cli ${directory} FILES ${tests} SOURCES ${objects} LIBRARIES cairn_cli)
  endif()
  include(${directory}/folder.cmake OPTIONAL)
endfunction()

# `ninja judged` builds what `make bench-core` and its like run. Nothing of that is installed, so the
# default target has it only where tests are built.
add_custom_target(judged)
function(cairn_judged_program target directory)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${directory})
  if(NOT CAIRN_TESTS)
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
  add_dependencies(judged ${target})
endfunction()

# bench/programs/bench_*.cc → build/…/bench/bench_*, one binary with its own main() each; the other
# .cc files there and in the folders of bench/ are linked into all of them.
function(cairn_bench)
  set(directory ${CMAKE_SOURCE_DIR}/bench)
  cairn_all_sources(common bench)
  set(programs ${common})
  list(FILTER programs INCLUDE REGEX "/bench_[^/]*\\.cc$")
  list(FILTER common EXCLUDE REGEX "/bench_[^/]*\\.cc$")
  if(NOT programs)
    return()
  endif()
  find_package(benchmark QUIET)
  find_package(PkgConfig QUIET)
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(PMEM QUIET IMPORTED_TARGET libpmem)
    pkg_check_modules(PMEM2 QUIET IMPORTED_TARGET libpmem2)
  endif()

  add_library(cairn_bench INTERFACE)
  target_include_directories(cairn_bench INTERFACE
    ${directory} ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
  target_link_libraries(cairn_bench INTERFACE cairn_flags cairn_static ${CMAKE_DL_LIBS})
  foreach(library benchmark::benchmark PkgConfig::PMEM PkgConfig::PMEM2)
    if(TARGET ${library})
      string(REGEX REPLACE ".*::" "" have ${library})
      string(TOUPPER ${have} have)
      target_link_libraries(cairn_bench INTERFACE ${library})
      target_compile_definitions(cairn_bench INTERFACE CAIRN_HAVE_${have}=1)
    endif()
  endforeach()
  if(common)
    add_library(cairn_bench_objects OBJECT ${common})
    target_link_libraries(cairn_bench_objects PRIVATE cairn_bench)
    set(objects $<TARGET_OBJECTS:cairn_bench_objects>)
  endif()
  foreach(program IN LISTS programs)
    get_filename_component(name ${program} NAME_WE)
    add_executable(${name} ${program} ${objects})
    target_link_libraries(${name} PRIVATE cairn_bench)
    cairn_judged_program(${name} ${CMAKE_BINARY_DIR}/bench)
  endforeach()
  if(CAIRN_TESTS)
    cairn_test_files(tests bench)
    cairn_unit_tests(bench ${directory} FILES ${tests} SOURCES ${objects} LIBRARIES cairn_bench)
  endif()
  include(${directory}/folder.cmake OPTIONAL)
endfunction()

# examples/*.c, *.cc and *.f90: programs against the public headers, Fortran's module and the
# shared library. NAME.cc becomes NAME_cc, NAME.f90 NAME_f90.
function(cairn_examples)
  file(GLOB examples CONFIGURE_DEPENDS
    ${CMAKE_SOURCE_DIR}/examples/*.c ${CMAKE_SOURCE_DIR}/examples/*.cc)
  foreach(example IN LISTS examples)
    cmake_path(GET example STEM name)
    if(example MATCHES "\\.cc$")
      string(APPEND name _cc)
    endif()
    file(STRINGS ${example} uses_mpi REGEX "^#include <mpi\\.h>")
    file(STRINGS ${example} uses_cairn REGEX "^#include <cairn/")
    if(NOT uses_mpi)
      add_executable(example_${name} ${example})
      target_link_libraries(example_${name} PRIVATE cairn_flags cairn)
      set_target_properties(example_${name} PROPERTIES OUTPUT_NAME ${name}
        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/examples)
      continue()
    endif()
    foreach(mpi IN LISTS CAIRN_MPIS)
      add_executable(example_${name}_${mpi} ${example})
      target_link_libraries(example_${name}_${mpi} PRIVATE cairn_flags m)
      if(uses_cairn)
        target_link_libraries(example_${name}_${mpi} PRIVATE cairn)
      endif()
      cairn_use_mpi(example_${name}_${mpi} ${mpi} LINK)
      set_target_properties(example_${name}_${mpi} PROPERTIES OUTPUT_NAME ${name}
        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/examples/${mpi})
    endforeach()
  endforeach()
  file(GLOB examples CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/examples/*.f90)
  foreach(example IN LISTS examples)
    cmake_path(GET example STEM name)
    cairn_fortran_programs(example_${name}_f90 ${example} ${name}_f90 ${CMAKE_BINARY_DIR}/examples)
  endforeach()
endfunction()

# examples/NAME/*.cc: one MPI program NAME, whose main() is in NAME.cc. Others use its parts, too:
# example_NAME_parts_MPI.
function(cairn_example_folder name)
  cairn_sources(sources ${CMAKE_SOURCE_DIR}/examples/${name})
  list(FILTER sources EXCLUDE REGEX "/${name}\\.cc$")
  foreach(mpi IN LISTS CAIRN_MPIS)
    add_library(example_${name}_parts_${mpi} STATIC ${sources})
    target_include_directories(example_${name}_parts_${mpi} PUBLIC ${CMAKE_SOURCE_DIR}/examples)
    target_link_libraries(example_${name}_parts_${mpi} PUBLIC cairn_flags cairn)
    # A multiplication and an addition in one rounding would be the compiler's choice.
    target_compile_options(example_${name}_parts_${mpi} PUBLIC -ffp-contract=off)
    cairn_use_mpi(example_${name}_parts_${mpi} ${mpi})
    add_executable(example_${name}_${mpi} ${CMAKE_SOURCE_DIR}/examples/${name}/${name}.cc)
    target_link_libraries(example_${name}_${mpi} PRIVATE example_${name}_parts_${mpi})
    cairn_use_mpi(example_${name}_${mpi} ${mpi} LINK)
    set_target_properties(example_${name}_${mpi} PROPERTIES OUTPUT_NAME ${name}
      RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/examples/${mpi})
  endforeach()
endfunction()

# `ninja demo`: what scripts/demo.sh runs, with the MPI of the plain `mpicc`.
function(cairn_demo)
  add_custom_target(demo DEPENDS cairn_command cairn_posix_preload cairn)
  if(TARGET cairn_mpiio_${CAIRN_PLAIN_MPI})
    add_dependencies(demo cairn_mpiio_${CAIRN_PLAIN_MPI})
  endif()
endfunction()

# `ninja benchmarks`: what `cairn bench` runs, for every MPI.
function(cairn_bench_target)
  add_custom_target(benchmarks DEPENDS cairn_command cairn_posix_preload)
  if(TARGET bench_kernels)
    add_dependencies(benchmarks bench_kernels)
  endif()
  foreach(mpi IN LISTS CAIRN_MPIS)
    add_dependencies(benchmarks cairn_mpiio_${mpi})
  endforeach()
  add_dependencies(judged benchmarks)
endfunction()
