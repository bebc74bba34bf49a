# Precompiled headers. Two thirds of a file's compile time go into standard headers, so these are
# parsed once for all targets that are compiled alike. Not where ccache is found: an object that it
# has is faster still, and such a build shows an #include that a file lacks.
#
# cairn_precompile(TARGET KIND): KIND is product, command, test or fixture.

set(is_useful ON)
if(CAIRN_CCACHE)
  set(is_useful OFF)
endif()
option(CAIRN_PRECOMPILE "Parse standard headers once for many files" ${is_useful})

set(CAIRN_STANDARD_HEADERS
  <algorithm> <array> <atomic> <bit> <chrono> <functional> <map> <memory> <mutex> <optional> <set>
  <string> <string_view> <thread> <utility> <vector>)
set(CAIRN_HEADERS_product ${CAIRN_STANDARD_HEADERS} <random>)
set(CAIRN_HEADERS_command ${CAIRN_STANDARD_HEADERS} <filesystem> <fstream> <sstream>
  <fmt/format.h> <nlohmann/json.hpp>)
set(CAIRN_HEADERS_test ${CAIRN_STANDARD_HEADERS} <fstream> <gtest/gtest.h>)
set(CAIRN_HEADERS_fixture ${CAIRN_HEADERS_test})

# The first target of a kind has the headers, the others take them from it.
function(cairn_precompile target kind)
  if(NOT CAIRN_PRECOMPILE)
    return()
  endif()
  # gcc 12 forgets that these headers are the system's, and warns of what it inlines from them.
  target_compile_options(${target} PRIVATE
    "$<$<CXX_COMPILER_ID:GNU>:-Wno-array-bounds;-Wno-restrict;-Wno-stringop-overflow>")
  get_property(owner GLOBAL PROPERTY CAIRN_PRECOMPILED_${kind})
  if(owner)
    target_precompile_headers(${target} REUSE_FROM ${owner})
    return()
  endif()
  set_property(GLOBAL PROPERTY CAIRN_PRECOMPILED_${kind} ${target})
  set(headers "")
  foreach(header IN LISTS CAIRN_HEADERS_${kind})
    list(APPEND headers "$<$<COMPILE_LANGUAGE:CXX>:${header}>")
  endforeach()
  target_precompile_headers(${target} PRIVATE ${headers})
endfunction()
