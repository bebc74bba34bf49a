# The MPIs that are here: each has a compiler wrapper, whose flags are asked for once.
#   CAIRN_MPIS            names of those that were found
#   CAIRN_MPI_BACKENDS    the same, and mpiabi: the standard's ABI, whose header is in the tree
#   cairn_use_mpi(TARGET MPI [LINK])   compiles the target with an MPI's header; LINK: links it to that MPI
set(CAIRN_MPI_COMPILERS "openmpi=mpicc.openmpi;mpich=mpicc.mpich" CACHE STRING
  "MPIs to serve: NAME=COMPILER WRAPPER, with names as in adapters/mpiio/shim.cc")
set(CAIRN_MPIS "")
foreach(entry IN LISTS CAIRN_MPI_COMPILERS)
  string(REGEX MATCH "^([a-z]+)=(.+)$" matched "${entry}")
  set(mpi ${CMAKE_MATCH_1})
  find_program(CAIRN_MPICC_${mpi} ${CMAKE_MATCH_2})
  mark_as_advanced(CAIRN_MPICC_${mpi})
  if(NOT CAIRN_MPICC_${mpi})
    message(STATUS "MPI-IO: no ${CMAKE_MATCH_2}, so no back end for ${mpi}")
    continue()
  endif()
  # What the wrapper would run: every MPI's knows this word.
  execute_process(COMMAND ${CAIRN_MPICC_${mpi}} -show OUTPUT_VARIABLE line OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REGEX MATCHALL " -I[^ ]+" includes "${line}")
  list(TRANSFORM includes REPLACE "^ -I" "")
  set(CAIRN_MPI_INCLUDES_${mpi} ${includes})
  string(REGEX MATCHALL " -[Ll][^ ]+" libraries "${line}")
  list(TRANSFORM libraries STRIP)
  set(CAIRN_MPI_LIBRARIES_${mpi} ${libraries})
  list(APPEND CAIRN_MPIS ${mpi})
endforeach()
set(CAIRN_MPI_INCLUDES_mpiabi ${CMAKE_SOURCE_DIR}/adapters/mpiio/abi)
set(CAIRN_MPI_BACKENDS ${CAIRN_MPIS} mpiabi)

function(cairn_use_mpi target mpi)
  cmake_parse_arguments(PARSE_ARGV 2 arg "LINK" "" "")
  target_include_directories(${target} SYSTEM PRIVATE ${CAIRN_MPI_INCLUDES_${mpi}})
  target_compile_definitions(${target} PRIVATE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  if(arg_LINK)
    target_link_options(${target} PRIVATE -Wl,--no-as-needed)
    target_link_libraries(${target} PRIVATE ${CAIRN_MPI_LIBRARIES_${mpi}})
  endif()
endfunction()
