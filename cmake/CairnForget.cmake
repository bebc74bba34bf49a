# The cache keeps what an earlier configuring has found, and forgets it here if it may be untrue now:
# packages are installed and removed between two builds of one tree. What the user has set stays.
#
#   cached                                           looked for again
#   the path of a program or library                 if it is no longer there
#   what pkg-config said                             always
#   that there is no Fortran compiler                always
#   that an MPI's Fortran modules do not compile     always
get_cmake_property(cached CACHE_VARIABLES)
foreach(name IN LISTS cached)
  set(value "$CACHE{${name}}")
  get_property(type CACHE ${name} PROPERTY TYPE)
  if(name MATCHES "^__pkg_config_checked_")
    unset(${name} CACHE)
  elseif(name MATCHES "^CAIRN_MPI_FORTRAN_WORKS_" AND NOT value)
    unset(${name} CACHE)
  elseif(name STREQUAL "CMAKE_Fortran_COMPILER" AND value MATCHES "NOTFOUND$")
    unset(${name} CACHE)
  elseif(type STREQUAL "FILEPATH" AND IS_ABSOLUTE "${value}" AND NOT EXISTS "${value}"
      AND (NOT name MATCHES "^CMAKE_" OR name STREQUAL "CMAKE_Fortran_COMPILER"))
    unset(${name} CACHE)
  endif()
endforeach()
