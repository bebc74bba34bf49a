# The MPIs that are here: each has a compiler wrapper. Every configuring looks for the wrappers again
# and asks them for their flags, since MPIs come, go and change places in PATH between two builds.
#   CAIRN_MPIS            names of those that were found
#   CAIRN_PLAIN_MPI       the name of the one that `mpicc` belongs to, or nothing
#   CAIRN_MPI_BACKENDS    the same, and mpiabi: the standard's ABI, whose header is in the tree
#   cairn_use_mpi(TARGET MPI [LINK])   compiles the target with an MPI's header; LINK: links it to that MPI
set(CAIRN_MPI_COMPILERS "openmpi=mpicc.openmpi;mpich=mpicc.mpich" CACHE STRING
  "MPIs to serve: NAME=COMPILER WRAPPER, with names as in src/cluster/mpi/loader/find_mpi.cc")

# Sets `out` to the ABI of a wrapper whose name says nothing, as of modules and Spack: its header knows.
function(cairn_mpi_of out wrapper)
  set(source ${CMAKE_BINARY_DIR}/which_mpi.c)
  file(WRITE ${source} "#include <mpi.h>\n")
  execute_process(COMMAND ${wrapper} -E -dM ${source} OUTPUT_VARIABLE macros ERROR_QUIET)
  set(${out} "" PARENT_SCOPE)
  if(macros MATCHES "define OMPI_MAJOR_VERSION ")
    set(${out} openmpi PARENT_SCOPE)
  elseif(macros MATCHES "define MPICH_NUMVERSION ")
    set(${out} mpich PARENT_SCOPE)
  endif()
endfunction()
find_program(plain_mpicc mpicc NO_CACHE)
set(CAIRN_PLAIN_MPI "")
if(plain_mpicc)
  cairn_mpi_of(CAIRN_PLAIN_MPI ${plain_mpicc})
endif()

set(CAIRN_MPIS "")
foreach(entry IN LISTS CAIRN_MPI_COMPILERS)
  string(REGEX MATCH "^([a-z]+)=(.+)$" matched "${entry}")
  set(mpi ${CMAKE_MATCH_1})
  find_program(mpicc_${mpi} ${CMAKE_MATCH_2} NO_CACHE)
  if(NOT mpicc_${mpi} AND CAIRN_PLAIN_MPI STREQUAL mpi)
    set(mpicc_${mpi} ${plain_mpicc})
  endif()
  if(NOT mpicc_${mpi})
    message(STATUS "MPI-IO: no ${CMAKE_MATCH_2}, so no back end for ${mpi}")
    continue()
  endif()
  # What the wrapper would run: every MPI's knows this word.
  execute_process(COMMAND ${mpicc_${mpi}} -show OUTPUT_VARIABLE line OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REGEX MATCHALL " -I[^ ]+" includes "${line}")
  list(TRANSFORM includes REPLACE "^ -I" "")
  set(CAIRN_MPI_INCLUDES_${mpi} ${includes})
  string(REGEX MATCHALL " (-[Ll]|-Wl,)[^ ]+" libraries "${line}")
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

# cairn_use_mpi_fortran(TARGET MPI): compiles the target with an MPI's Fortran modules and links it.
# CAIRN_MPI_FORTRAN_MPI is the wrapper, named as that for C, if it is here.
foreach(mpi IN LISTS CAIRN_MPIS)
  string(REPLACE "mpicc" "mpifort" wrapper "${mpicc_${mpi}}")
  find_program(CAIRN_MPI_FORTRAN_${mpi} ${wrapper} NO_CACHE)
endforeach()

# Sets `includes` and `libraries` to what the wrapper gives the compiler.
function(cairn_mpi_fortran_flags mpi includes libraries)
  execute_process(COMMAND ${CAIRN_MPI_FORTRAN_${mpi}} -show
    OUTPUT_VARIABLE line OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REGEX MATCHALL " -I[^ ]+" words "${line}")
  list(TRANSFORM words REPLACE "^ -I" "")
  set(${includes} ${words} PARENT_SCOPE)
  string(REGEX MATCHALL " -[Ll][^ ]+" words "${line}")
  list(TRANSFORM words STRIP)
  set(${libraries} ${words} PARENT_SCOPE)
endfunction()

function(cairn_use_mpi_fortran target mpi)
  cairn_mpi_fortran_flags(${mpi} includes libraries)
  target_include_directories(${target} PRIVATE ${includes})
  target_link_libraries(${target} PRIVATE ${libraries})
endfunction()
