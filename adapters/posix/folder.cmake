# The engine inside the library calls open, close, mmap, ... itself. The linker sends these calls to the
# __wrap_ functions of exports.cc, one for each name in the lists of calls, so that they never meet our
# wrappers. Files in memory go to descriptor.cc.
file(GLOB lists CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/adapters/posix/*/calls.def)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${lists})
set(options "--wrap=memfd_create")
foreach(list IN LISTS lists)
  file(STRINGS ${list} entries REGEX "^(SERVED|ALIAS|REFUSED)\\(")
  foreach(entry IN LISTS entries)
    # The name is what stands before the parameter list.
    if(entry MATCHES "^[A-Z]+\\([^(]*[ ,*]([A-Za-z_0-9]+), \\(")
      list(APPEND options "--wrap=${CMAKE_MATCH_1}")
    else()
      message(FATAL_ERROR "no name in: ${entry}")
    endif()
  endforeach()
endforeach()
list(JOIN options "\n" options)
file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/posix_wrap.options CONTENT "${options}\n")
# Every program loads it: two mappings instead of four.
target_link_options(cairn_posix_preload PRIVATE "-Wl,@${CMAKE_BINARY_DIR}/posix_wrap.options" -Wl,-Bsymbolic
  -Wl,-z,noseparate-code -Wl,-z,initfirst
  -Wl,--version-script=${CMAKE_SOURCE_DIR}/adapters/posix/runtime.map)
set_property(TARGET cairn_posix_preload APPEND PROPERTY
  LINK_DEPENDS ${CMAKE_BINARY_DIR}/posix_wrap.options ${CMAKE_SOURCE_DIR}/adapters/posix/runtime.map)
