# Finding and loading the transport is free of MPI, and a part of libcairn.
cairn_sources(loader_sources ${CMAKE_SOURCE_DIR}/src/cluster/mpi/loader)
target_sources(cairn_cluster_objects PRIVATE ${loader_sources})
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/cluster/mpi/loader/load.cc PROPERTIES
  COMPILE_DEFINITIONS CAIRN_LIBDIR="${CMAKE_INSTALL_PREFIX}/lib")
