# `make install`: command, libraries, headers, pkg-config, CMake package, man pages, completion.
# Libraries go to PREFIX/lib whatever the distribution: bin/cairn finds the adapters at ../lib.
set(CMAKE_INSTALL_LIBDIR lib CACHE STRING "Library directory below the prefix")
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS cairn cairn_static EXPORT CairnTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  PUBLIC_HEADER DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/cairn)
foreach(target cairn_command cairn_posix_preload)
  if(TARGET ${target})
    install(TARGETS ${target} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
      LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
endforeach()

install(EXPORT CairnTargets NAMESPACE cairn:: FILE CairnTargets.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Cairn)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/CairnConfig.cmake.in
  ${CMAKE_BINARY_DIR}/CairnConfig.cmake INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Cairn)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/CairnConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/CairnConfig.cmake ${CMAKE_BINARY_DIR}/CairnConfigVersion.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/Cairn)

configure_file(${CMAKE_CURRENT_LIST_DIR}/cairn.pc.in ${CMAKE_BINARY_DIR}/cairn.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/cairn.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# docs/man/NAME.SECTION.md → man/manSECTION/NAME.SECTION, where pandoc is there.
file(GLOB man_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/man/*.[1-8].md)
find_program(CAIRN_PANDOC pandoc)
mark_as_advanced(CAIRN_PANDOC)
if(man_sources AND CAIRN_PANDOC)
  set(pages "")
  foreach(source IN LISTS man_sources)
    get_filename_component(page ${source} NAME_WLE)
    string(REGEX MATCH "[1-8]$" section ${page})
    set(output ${CMAKE_BINARY_DIR}/man/man${section}/${page})
    add_custom_command(OUTPUT ${output} DEPENDS ${source} VERBATIM
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/man/man${section}
      COMMAND ${CAIRN_PANDOC} --standalone --from markdown --to man
        --metadata "footer=Cairn ${PROJECT_VERSION}" ${source} -o ${output})
    list(APPEND pages ${output})
    install(FILES ${output} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
  endforeach()
  add_custom_target(man ALL DEPENDS ${pages})
endif()

foreach(completion
    "cairn.bash|bash-completion/completions|cairn" "_cairn|zsh/site-functions|_cairn"
    "cairn.fish|fish/vendor_completions.d|cairn.fish")
  string(REPLACE "|" ";" completion ${completion})
  list(GET completion 0 source)
  list(GET completion 1 destination)
  list(GET completion 2 name)
  if(EXISTS ${CMAKE_SOURCE_DIR}/cli/completion/${source})
    install(FILES ${CMAKE_SOURCE_DIR}/cli/completion/${source}
      DESTINATION ${CMAKE_INSTALL_DATADIR}/${destination} RENAME ${name})
  endif()
endforeach()
