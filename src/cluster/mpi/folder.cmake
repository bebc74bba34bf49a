# The transport, lib/cairn/libcairn_mpi_NAME.so, for each ABI. It is linked to no MPI: at run time it
# meets the one that the process has loaded. The back ends of MPI-IO are linked to it.
cairn_all_sources(transport_sources src/cluster/mpi)
list(FILTER transport_sources EXCLUDE REGEX "/mpi/loader/")  # a part of libcairn
foreach(mpi IN LISTS CAIRN_MPI_BACKENDS)
  add_library(cairn_mpi_${mpi} SHARED ${transport_sources})
  set_target_properties(cairn_mpi_${mpi} PROPERTIES LINKER_LANGUAGE CXX
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/cairn)
  cairn_use_mpi(cairn_mpi_${mpi} ${mpi})
  target_include_directories(cairn_mpi_${mpi} PRIVATE
    ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
  # Not cairn_library_flags: back ends see its functions, through the map.
  target_link_libraries(cairn_mpi_${mpi} PRIVATE cairn_flags)
  target_compile_options(cairn_mpi_${mpi} PRIVATE -ffunction-sections -fdata-sections
    -ftls-model=initial-exec -fno-exceptions -fno-rtti)
  cairn_compile_by_folder(cairn_mpi_${mpi})
  target_link_options(cairn_mpi_${mpi} PRIVATE -static-libstdc++ -static-libgcc -Wl,--gc-sections
    -Wl,--exclude-libs,ALL -Wl,--unresolved-symbols=ignore-all
    -Wl,--version-script=${CMAKE_CURRENT_LIST_DIR}/transport.map)
  set_property(TARGET cairn_mpi_${mpi} APPEND PROPERTY
    LINK_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/transport.map)
endforeach()
if(TARGET cairn_mpi_mpiabi)
  target_compile_definitions(cairn_mpi_mpiabi PRIVATE CAIRN_MPI_STANDARD_ABI)
endif()

if(CAIRN_TESTS)
  # Those parts that know nothing of MPI.
  set(parts ranks/processes ranks/roster loader/loaded_objects)
  list(TRANSFORM parts PREPEND ${CMAKE_CURRENT_LIST_DIR}/)
  list(TRANSFORM parts APPEND .cc OUTPUT_VARIABLE sources)
  list(TRANSFORM parts APPEND _test.cc OUTPUT_VARIABLE tests)
  cairn_unit_tests(cluster/mpi ${CMAKE_CURRENT_LIST_DIR} FILES ${tests} SOURCES ${sources}
    INCLUDES ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
endif()
