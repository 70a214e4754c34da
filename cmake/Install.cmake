# cmake --install: headers, libraries, filch.pc, filch-mpi.pc, a CMake package, man pages, gdb
# commands, examples.  All paths in them are relative, so the installed tree can be moved.
# cluster/ adds libfilch-mpi to the targets, and installs the MPI plugins.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/filch)

install(DIRECTORY include/filch TYPE INCLUDE FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
install(TARGETS filch filch_static EXPORT filch-targets)
install(EXPORT filch-targets NAMESPACE filch:: DESTINATION ${package_dir})
configure_package_config_file(cmake/filch-config.cmake.in filch-config.cmake INSTALL_DESTINATION ${package_dir})
set(compatibility SameMajorVersion)
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(compatibility SameMinorVersion)
endif()
write_basic_package_version_file(filch-config-version.cmake COMPATIBILITY ${compatibility})
install(FILES ${PROJECT_BINARY_DIR}/filch-config.cmake ${PROJECT_BINARY_DIR}/filch-config-version.cmake
  DESTINATION ${package_dir})

# An absolute CMAKE_INSTALL_LIBDIR or _INCLUDEDIR (some distributions pass one) stays absolute in
# filch.pc.  Otherwise filch.pc derives the prefix from its own path.
set(PC_PREFIX ${CMAKE_INSTALL_PREFIX})
set(PC_LIBDIR ${CMAKE_INSTALL_FULL_LIBDIR})
set(PC_INCLUDEDIR ${CMAKE_INSTALL_FULL_INCLUDEDIR})
if(NOT IS_ABSOLUTE ${CMAKE_INSTALL_LIBDIR})
  file(RELATIVE_PATH _up /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
  string(REGEX REPLACE "/$" "" _up ${_up})
  set(PC_PREFIX "\${pcfiledir}/${_up}")
  set(PC_LIBDIR "\${prefix}/${CMAKE_INSTALL_LIBDIR}")
endif()
if(NOT IS_ABSOLUTE ${CMAKE_INSTALL_INCLUDEDIR})
  set(PC_INCLUDEDIR "\${prefix}/${CMAKE_INSTALL_INCLUDEDIR}")
endif()
set(PC_CFLAGS "-I\${includedir}")
if(FILCH_HAS_STACK_CLASH)
  string(APPEND PC_CFLAGS " -fstack-clash-protection")
endif()
foreach(pc filch.pc filch-mpi.pc)
  configure_file(cmake/${pc}.in ${pc} @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${pc} DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endforeach()

# gdb commands for fibers.
install(FILES tools/filch-gdb.py DESTINATION ${CMAKE_INSTALL_DATADIR}/filch)

# The examples with a Makefile, and the tutorial, whose links between each other stay valid.
install(DIRECTORY examples DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/filch
  FILES_MATCHING PATTERN "*.[ch]" PATTERN "*.cpp" PATTERN "README.md" PATTERN "Makefile"
  PATTERN "tests" EXCLUDE)
install(FILES docs/tutorial.md docs/rules.md DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/filch/docs)

foreach(section 1 3 5 7)
  file(GLOB pages CONFIGURE_DEPENDS man/*.${section})
  install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
endforeach()
