# What the programs work on: this source tree.
target_compile_definitions(bench_programs PRIVATE CAIRN_SOURCE_DIRECTORY="${CMAKE_SOURCE_DIR}")
target_compile_definitions(bench_remote PRIVATE CAIRN_SOURCE_DIRECTORY="${CMAKE_SOURCE_DIR}")
# What a start makes of its hosts is done by the MPI transport.
target_sources(bench_scale PRIVATE ${CMAKE_SOURCE_DIR}/src/cluster/mpi/roster.cc)
target_include_directories(bench_scale PRIVATE ${CMAKE_SOURCE_DIR}/src)
# What bench_mpiio and bench_remote start, for every MPI.
foreach(mpi IN LISTS CAIRN_MPIS)
  foreach(program patterns remote_reads write_once checkpoints)
    add_executable(bench_mpi_${program}_${mpi} ${CMAKE_SOURCE_DIR}/bench/mpi/${program}.cc)
    target_link_libraries(bench_mpi_${program}_${mpi} PRIVATE cairn_flags)
    cairn_use_mpi(bench_mpi_${program}_${mpi} ${mpi} LINK)
    set_target_properties(bench_mpi_${program}_${mpi} PROPERTIES
      OUTPUT_NAME ${program} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench/mpi/${mpi})
  endforeach()
endforeach()
