# `make install`: command, libraries, MPI-IO back ends, headers, examples, pkg-config, CMake package. Manual pages and completion,
# which the built command makes, are installed by cli/folder.cmake.
# Libraries go to PREFIX/lib whatever the distribution: bin/cairn finds the adapters at ../lib.
set(CMAKE_INSTALL_LIBDIR lib CACHE STRING "Library directory below the prefix")
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS cairn cairn_static EXPORT CairnTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  PUBLIC_HEADER DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/cairn)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/include/cairn/adapter DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/cairn
  FILES_MATCHING PATTERN "*.h")
foreach(target cairn_command cairn_posix_preload)
  if(TARGET ${target})
    install(TARGETS ${target} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR}
      LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
endforeach()

foreach(mpi IN LISTS CAIRN_MPI_BACKENDS)
  install(TARGETS cairn_mpi_${mpi} cairn_mpiio_${mpi} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/cairn)
endforeach()

# Sources: descriptors differ between Fortran compilers, so the user's own builds them.
install(DIRECTORY ${CMAKE_SOURCE_DIR}/bindings/fortran DESTINATION ${CMAKE_INSTALL_DATADIR}/cairn
  PATTERN folder.cmake EXCLUDE)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DATADIR}/cairn)

install(FILES ${CMAKE_SOURCE_DIR}/adapters/posix/tsan.supp DESTINATION ${CMAKE_INSTALL_DATADIR}/cairn)

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
