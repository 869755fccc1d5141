# `cmake --install build/release --prefix DIR`: headers, both libraries, the program, a pkg-config file
# and a CMake package.
include(CMakePackageConfigHelpers)

install(TARGETS kernsight kernsight_static EXPORT kernsight
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/kernsight DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES third_party/yyjson/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME LICENSE.yyjson)
if(KS_WITH_CLI)
  install(TARGETS kernsight_program DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

install(EXPORT kernsight NAMESPACE kernsight:: FILE kernsight-targets.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/kernsight)
configure_package_config_file(cmake/kernsight-config.cmake.in
  ${PROJECT_BINARY_DIR}/kernsight-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/kernsight)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/kernsight-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/kernsight-config.cmake
              ${PROJECT_BINARY_DIR}/kernsight-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/kernsight)

configure_file(cmake/kernsight.pc.in ${PROJECT_BINARY_DIR}/kernsight.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/kernsight.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
