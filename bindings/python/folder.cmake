# The Python package, beside that of `cairn bench`: lib/cairn/python/cairn, which the build tree has
# as a link. It loads libcairn.so itself, so there is nothing to build.
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/lib/cairn/python)
file(CREATE_LINK ${CMAKE_SOURCE_DIR}/bindings/python/cairn ${CMAKE_BINARY_DIR}/lib/cairn/python/cairn
  SYMBOLIC)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/bindings/python/cairn DESTINATION lib/cairn/python
  PATTERN "__pycache__" EXCLUDE)

# `ninja wheel`: the package with the library and the transports of the MPIs, in wheel/.
set(transports "")
foreach(mpi IN LISTS CAIRN_MPI_BACKENDS)
  list(APPEND transports $<TARGET_FILE:cairn_mpi_${mpi}>)
endforeach()
add_custom_target(wheel VERBATIM
  COMMAND python3 -B ${CMAKE_CURRENT_LIST_DIR}/make_wheel.py --version ${CAIRN_VERSION}
    --into ${CMAKE_BINARY_DIR}/wheel --library $<TARGET_FILE:cairn> ${transports})
add_dependencies(wheel cairn)
foreach(mpi IN LISTS CAIRN_MPI_BACKENDS)
  add_dependencies(wheel cairn_mpi_${mpi})
endforeach()
