# Compilers, warnings, sanitizers: what holds for every target.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()
# Assertions stay on in releases: they are cheap, never reachable by user input, and a storage engine
# that has lost its bearings must stop before it writes.
foreach(language C CXX)
  set(CMAKE_${language}_FLAGS_RELWITHDEBINFO "-O2 -g")
  set(CMAKE_${language}_FLAGS_DEBUG "-O1 -g -D_GLIBCXX_ASSERTIONS")
endforeach()

find_program(CAIRN_CCACHE ccache)
mark_as_advanced(CAIRN_CCACHE)
if(CAIRN_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${CAIRN_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CAIRN_CCACHE})
endif()

find_package(Threads REQUIRED)

# Everything of ours links this; nothing foreign does. No _FILE_OFFSET_BITS: 64-bit systems need none,
# and it would quietly rename the calls that the adapters define (creat to creat64).
add_library(cairn_flags INTERFACE)
target_compile_definitions(cairn_flags INTERFACE _GNU_SOURCE
  CAIRN_VERSION="${CAIRN_VERSION}")
target_compile_options(cairn_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wundef
  # Of sources that are compiled as one, a local variable may have the name of another's static one.
  $<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow>
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>
  # Detail texts are cut at their capacity on purpose; gcc cannot know, and says so when sanitizing.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-format-truncation>
  -fno-omit-frame-pointer)
if(CAIRN_WERROR)
  target_compile_options(cairn_flags INTERFACE -Werror)
endif()
if(CAIRN_SANITIZE)
  target_compile_options(cairn_flags INTERFACE
    -fsanitize=${CAIRN_SANITIZE} -fno-sanitize-recover=all)
  target_link_options(cairn_flags INTERFACE -fsanitize=${CAIRN_SANITIZE})
  # What a vptr points to is told by RTTI, which the libraries do without.
  target_compile_options(cairn_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=vptr>)
  # gcc 12 follows the sanitizers' own branches into warnings that plain builds do not have.
  target_compile_options(cairn_flags INTERFACE
    $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized;-Wno-stringop-overflow>)
endif()
if(CAIRN_COVERAGE)
  target_compile_options(cairn_flags INTERFACE --coverage -fprofile-update=atomic)
  target_link_options(cairn_flags INTERFACE --coverage -Wl,--wrap=_exit,-u,__wrap__exit)
  add_library(cairn_coverage_exit STATIC ${CMAKE_CURRENT_LIST_DIR}/coverage_exit.c)
  target_link_libraries(cairn_flags INTERFACE cairn_coverage_exit)
endif()
if(CAIRN_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "CAIRN_FUZZ needs clang (use the preset fuzz)")
  endif()
  # The libraries carry coverage counters, the fuzz targets add libFuzzer's main.
  target_compile_options(cairn_flags INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(cairn_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()

# What ends up in strangers' programs: nothing thrown, nothing exported by accident.
add_library(cairn_library_flags INTERFACE)
target_link_libraries(cairn_library_flags INTERFACE cairn_flags)
target_compile_options(cairn_library_flags INTERFACE
  -fvisibility=hidden -ffunction-sections -fdata-sections -ftls-model=initial-exec
  $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions> $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>
  $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden>)

# cairn_self_contained(TARGET [MAP]): links a shared library that needs libc, libm and the loader only
# and exports what the version script MAP lists.
function(cairn_self_contained target map)
  target_link_options(${target} PRIVATE
    -static-libstdc++ -static-libgcc -Wl,--gc-sections -Wl,--exclude-libs,ALL -Wl,--as-needed)
  # clang leaves a sanitizer's symbols to the program, so -z defs cannot hold there.
  if(NOT (CAIRN_SANITIZE OR CAIRN_FUZZ))
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
  if(EXISTS ${map})
    target_link_options(${target} PRIVATE -Wl,--version-script=${map})
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${map})
  endif()
endfunction()
