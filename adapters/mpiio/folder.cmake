# The names are exported by the library that is preloaded anyway: a process has one more of them, not one more library.
target_sources(cairn_posix_preload PRIVATE ${CMAKE_SOURCE_DIR}/adapters/mpiio/shim.cc)
target_include_directories(cairn_posix_preload PRIVATE
  ${CMAKE_SOURCE_DIR}/adapters ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
target_link_libraries(cairn_posix_preload PRIVATE cairn_library_flags)

# A back end, lib/cairn/mpiio_NAME.so, for each ABI. It is linked to none: at run time it meets the one that the process
# has loaded.
cairn_all_sources(backend_sources adapters/mpiio/backend)
foreach(mpi IN LISTS CAIRN_MPI_BACKENDS)
  add_library(cairn_mpiio_${mpi} MODULE ${backend_sources})
  set_target_properties(cairn_mpiio_${mpi} PROPERTIES PREFIX "" OUTPUT_NAME mpiio_${mpi}
    INSTALL_RPATH "$ORIGIN" BUILD_WITH_INSTALL_RPATH ON
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/cairn)
  cairn_use_mpi(cairn_mpiio_${mpi} ${mpi})
  target_include_directories(cairn_mpiio_${mpi} PRIVATE
    ${CMAKE_SOURCE_DIR}/adapters ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
  target_compile_definitions(cairn_mpiio_${mpi} PRIVATE CAIRN_VERSION="${CAIRN_VERSION}")
  target_link_libraries(cairn_mpiio_${mpi} PRIVATE cairn_library_flags cairn_mpi_${mpi})
  cairn_precompile(cairn_mpiio_${mpi} product)
  cairn_compile_by_folder(cairn_mpiio_${mpi})
  target_link_options(cairn_mpiio_${mpi} PRIVATE -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL
    -Wl,--unresolved-symbols=ignore-all)
endforeach()

if(CAIRN_TESTS)
  # Those parts that know nothing of MPI.
  set(base ${CMAKE_CURRENT_LIST_DIR}/backend/base)
  set(parts callers texts turn)
  list(TRANSFORM parts PREPEND ${base}/)
  list(TRANSFORM parts APPEND .cc OUTPUT_VARIABLE sources)
  list(TRANSFORM parts APPEND _test.cc OUTPUT_VARIABLE tests)
  cairn_unit_tests(mpiio/backend/base ${base} FILES ${tests} SOURCES ${sources}
    INCLUDES ${CMAKE_SOURCE_DIR}/adapters ${CMAKE_SOURCE_DIR}/include)
endif()
