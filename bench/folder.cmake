# Nobody debugs a benchmark but with the dev preset: lines for a backtrace are enough here.
add_library(bench_flags INTERFACE)
target_link_libraries(bench_flags INTERFACE cairn_flags)
target_compile_options(bench_flags INTERFACE $<$<CONFIG:RelWithDebInfo>:-g1>)

# What the programs work on: this source tree.
target_compile_definitions(bench_programs PRIVATE CAIRN_SOURCE_DIRECTORY="${CMAKE_SOURCE_DIR}")
target_compile_definitions(bench_remote PRIVATE CAIRN_SOURCE_DIRECTORY="${CMAKE_SOURCE_DIR}")
# What a start makes of its hosts is done by the MPI transport.
target_sources(bench_scale PRIVATE ${CMAKE_SOURCE_DIR}/src/cluster/mpi/ranks/roster.cc)
target_include_directories(bench_scale PRIVATE ${CMAKE_SOURCE_DIR}/src)
# What bench_mpiio and bench_remote start, for every MPI.
foreach(mpi IN LISTS CAIRN_MPIS)
  foreach(program patterns remote_reads write_once checkpoints)
    add_executable(bench_mpi_${program}_${mpi} ${CMAKE_SOURCE_DIR}/bench/mpi/${program}.cc)
    target_link_libraries(bench_mpi_${program}_${mpi} PRIVATE bench_flags)
    cairn_use_mpi(bench_mpi_${program}_${mpi} ${mpi} LINK)
    set_target_properties(bench_mpi_${program}_${mpi} PROPERTIES OUTPUT_NAME ${program})
    cairn_judged_program(bench_mpi_${program}_${mpi} ${CMAKE_BINARY_DIR}/bench/mpi/${mpi})
  endforeach()
endforeach()

# The kernels of `cairn bench`, for every MPI: lib/cairn/bench/MPI/NAME, in the build tree as where they
# are installed, and NAME.json, in which the kernel describes itself. Each source in mpi/kernels is a
# kernel; those in the folders there are linked into all.
cairn_sources(kernel_sources ${CMAKE_SOURCE_DIR}/bench/mpi/kernels)
set(shared_sources "")
cairn_folders_in(kernel_folders bench/mpi/kernels)
foreach(folder IN LISTS kernel_folders)
  cairn_sources(in_folder ${CMAKE_SOURCE_DIR}/bench/mpi/kernels/${folder})
  list(APPEND shared_sources ${in_folder})
endforeach()
# The sources of common/ are compiled as one. The others stay apart: a kernel links what it calls, and
# does not load HDF5 for the rest.
set(apart ${shared_sources})
list(FILTER apart EXCLUDE REGEX "/kernels/common/")
set_source_files_properties(${apart} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
add_custom_target(bench_kernels)
foreach(mpi IN LISTS CAIRN_MPIS)
  add_library(bench_kernels_${mpi} STATIC ${shared_sources})
  target_include_directories(bench_kernels_${mpi} PUBLIC ${CMAKE_SOURCE_DIR}/bench/mpi/kernels)
  target_link_libraries(bench_kernels_${mpi} PRIVATE bench_flags nlohmann_json::nlohmann_json)
  cairn_use_mpi(bench_kernels_${mpi} ${mpi})
  cairn_compile_by_folder(bench_kernels_${mpi})
  if(PKG_CONFIG_FOUND)
    pkg_check_modules(HDF5_${mpi} QUIET IMPORTED_TARGET hdf5-${mpi})
  endif()
  if(HDF5_${mpi}_FOUND)
    target_include_directories(bench_kernels_${mpi} SYSTEM PRIVATE ${HDF5_${mpi}_INCLUDE_DIRS})
    target_compile_definitions(bench_kernels_${mpi} PRIVATE CAIRN_BENCH_HDF5=1)
  else()
    message(STATUS "cairn bench: no parallel HDF5 for ${mpi}, so its kernels have no HDF5")
  endif()
  foreach(source IN LISTS kernel_sources)
    cmake_path(GET source STEM kernel)
    set(target bench_kernel_${kernel}_${mpi})
    add_executable(${target} ${source})
    target_link_libraries(${target} PRIVATE bench_flags bench_kernels_${mpi})
    cairn_use_mpi(${target} ${mpi} LINK)
    if(HDF5_${mpi}_FOUND)  # a kernel that calls none of it does not load it
      target_link_libraries(${target} PRIVATE
        -Wl,--as-needed ${HDF5_${mpi}_LINK_LIBRARIES} -Wl,--no-as-needed)
    endif()
    set_target_properties(${target} PROPERTIES OUTPUT_NAME ${kernel}
      RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/cairn/bench/${mpi})
    add_custom_command(TARGET ${target} POST_BUILD VERBATIM
      COMMAND ${CMAKE_COMMAND} -DKERNEL=$<TARGET_FILE:${target}>
        -P ${CMAKE_SOURCE_DIR}/bench/describe_kernel.cmake)
    install(TARGETS ${target} RUNTIME DESTINATION lib/cairn/bench/${mpi})
    install(FILES $<TARGET_FILE:${target}>.json DESTINATION lib/cairn/bench/${mpi} OPTIONAL)
    add_dependencies(bench_kernels ${target})
  endforeach()
endforeach()

# PALM's variables and the ways to store them: for the kernel palm, and for what bench_palm starts,
# bench/mpi/MPI/palm.
cairn_sources(palm_sources ${CMAKE_SOURCE_DIR}/bench/mpi/palm)
list(FILTER palm_sources EXCLUDE REGEX "/palm\\.cc$")
find_library(CAIRN_ISAL isal)
mark_as_advanced(CAIRN_ISAL)
foreach(mpi IN LISTS CAIRN_MPIS)
  set(target bench_palm_${mpi})
  add_library(${target} STATIC ${palm_sources})
  target_include_directories(${target} PRIVATE ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(${target} PRIVATE bench_flags PUBLIC cairn)
  cairn_compile_by_folder(${target})
  if(CAIRN_ISAL)
    target_compile_definitions(${target} PRIVATE CAIRN_HAVE_ISAL=1)
    target_link_libraries(${target} PRIVATE ${CAIRN_ISAL})
  else()
    target_link_libraries(${target} PRIVATE cairn_base)
  endif()
  cairn_use_mpi(${target} ${mpi})
  if(HDF5_${mpi}_FOUND)
    target_compile_definitions(${target} PRIVATE CAIRN_BENCH_HDF5=1)
    target_include_directories(${target} SYSTEM PRIVATE ${HDF5_${mpi}_INCLUDE_DIRS})
    target_link_libraries(${target} PRIVATE PkgConfig::HDF5_${mpi})
  endif()
  target_link_libraries(bench_kernel_palm_${mpi} PRIVATE bench_palm_${mpi})
  set_target_properties(bench_kernel_palm_${mpi} PROPERTIES INSTALL_RPATH "$ORIGIN/../../..")
  set(program bench_mpi_palm_${mpi})
  add_executable(${program} ${CMAKE_SOURCE_DIR}/bench/mpi/palm/palm.cc)
  target_link_libraries(${program} PRIVATE bench_flags bench_palm_${mpi})
  cairn_use_mpi(${program} ${mpi} LINK)
  if(HDF5_${mpi}_FOUND)
    target_link_libraries(${program} PRIVATE PkgConfig::HDF5_${mpi})
  endif()
  set_target_properties(${program} PROPERTIES OUTPUT_NAME palm)
  cairn_judged_program(${program} ${CMAKE_BINARY_DIR}/bench/mpi/${mpi})
endforeach()

# The kernel sedov: the mini-application of examples/, and the ways in which it writes checkpoints.
cairn_sources(sedov_sources ${CMAKE_SOURCE_DIR}/bench/mpi/sedov)
foreach(mpi IN LISTS CAIRN_MPIS)
  add_library(bench_sedov_${mpi} STATIC ${sedov_sources})
  cairn_compile_by_folder(bench_sedov_${mpi})
  target_link_libraries(bench_sedov_${mpi} PUBLIC example_sedov_parts_${mpi} cairn_base
    PRIVATE bench_kernels_${mpi})
  if(TARGET PkgConfig::PMEM)
    target_link_libraries(bench_sedov_${mpi} PRIVATE PkgConfig::PMEM)
    target_compile_definitions(bench_sedov_${mpi} PRIVATE CAIRN_HAVE_PMEM=1)
  endif()
  cairn_use_mpi(bench_sedov_${mpi} ${mpi})
  target_link_libraries(bench_kernel_sedov_${mpi} PRIVATE bench_sedov_${mpi})
  set_target_properties(bench_kernel_sedov_${mpi} PROPERTIES INSTALL_RPATH "$ORIGIN/../../..")
endforeach()

# The runner of `cairn bench`, in Python: lib/cairn/python/cairn_bench, which the build tree has as a link.
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/lib/cairn/python)
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/bench/python/cairn_bench
  ${CMAKE_BINARY_DIR}/lib/cairn/python/cairn_bench SYMBOLIC)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/bench/python/cairn_bench DESTINATION lib/cairn/python
  PATTERN "__pycache__" EXCLUDE)
