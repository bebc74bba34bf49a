# What the programs work on: this source tree.
target_compile_definitions(bench_programs PRIVATE CAIRN_SOURCE_DIRECTORY="${CMAKE_SOURCE_DIR}")
# What bench_mpiio starts, for every MPI.
foreach(mpi IN LISTS CAIRN_MPIS)
  add_executable(bench_mpi_${mpi} ${CMAKE_SOURCE_DIR}/bench/mpi/patterns.cc)
  target_link_libraries(bench_mpi_${mpi} PRIVATE cairn_flags)
  cairn_use_mpi(bench_mpi_${mpi} ${mpi} LINK)
  set_target_properties(bench_mpi_${mpi} PROPERTIES
    OUTPUT_NAME patterns RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench/mpi/${mpi})
endforeach()
