# cairn::fortran, Fortran's modules `cairn` and `cairn_palm`, built by the project that includes this
# file: descriptors and modules belong to a compiler.
add_library(cairn_fortran STATIC EXCLUDE_FROM_ALL
  ${CMAKE_CURRENT_LIST_DIR}/cairn_fortran.c ${CMAKE_CURRENT_LIST_DIR}/cairn_palm.c
  ${CMAKE_CURRENT_LIST_DIR}/cairn.f90 ${CMAKE_CURRENT_LIST_DIR}/cairn_palm.f90)
add_library(cairn::fortran ALIAS cairn_fortran)
set_target_properties(cairn_fortran PROPERTIES C_STANDARD 11 POSITION_INDEPENDENT_CODE ON
  Fortran_MODULE_DIRECTORY ${CMAKE_BINARY_DIR}/cairn_fortran)
target_include_directories(cairn_fortran PUBLIC ${CMAKE_BINARY_DIR}/cairn_fortran)
target_link_libraries(cairn_fortran PUBLIC cairn::cairn)
if(CMAKE_Fortran_COMPILER_ID STREQUAL "GNU")
  # ISO_Fortran_binding.h lies where gcc looks, but another C compiler does not.
  execute_process(COMMAND ${CMAKE_Fortran_COMPILER} -print-file-name=include
    OUTPUT_VARIABLE cairn_fortran_headers OUTPUT_STRIP_TRAILING_WHITESPACE)
  target_compile_options(cairn_fortran PRIVATE
    $<$<COMPILE_LANGUAGE:C>:-idirafter${cairn_fortran_headers}>)
endif()
