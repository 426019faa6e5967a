# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` writes: program, library, headers, CMake package, pkg-config file, man pages,
# completions.
include(CMakePackageConfigHelpers)

install(TARGETS shardtool)
install(TARGETS shard EXPORT shard FILE_SET HEADERS)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/shard)
install(EXPORT shard NAMESPACE shard:: FILE shard-targets.cmake DESTINATION ${package_dir})

configure_package_config_file(lib/cmake/shard-config.cmake.in shard-config.cmake
  INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(shard-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/shard-config.cmake ${PROJECT_BINARY_DIR}/shard-config-version.cmake
  DESTINATION ${package_dir})

# Relative to the file itself, so that the installed tree can be moved.
file(RELATIVE_PATH pc_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
list(JOIN shard_requires " " pc_requires)
set(pc_libs "-L\${libdir} -lshard")
if(BUILD_SHARED_LIBS)
  set(pc_private .private)
else() # who links a static library needs the rest too
  string(APPEND pc_libs " -lcsv -pthread")
endif()
configure_file(lib/cmake/shard.pc.in shard.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/shard.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# Man pages and completions come from the option tables in the program itself.
function(print_to file)
  add_custom_command(OUTPUT ${file} COMMAND shardtool ${ARGN} > ${file} DEPENDS shardtool VERBATIM)
endfunction()
print_to(man/shardtool.1 man)
set(printed man/shardtool.1)
foreach(verb ${verbs})
  print_to(man/shardtool-${verb}.1 man ${verb})
  list(APPEND printed man/shardtool-${verb}.1)
endforeach()
foreach(shell bash zsh fish)
  print_to(completions/${shell} completion ${shell})
  list(APPEND printed completions/${shell})
endforeach()
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/man ${PROJECT_BINARY_DIR}/completions)
add_custom_target(shardtool_pages ALL DEPENDS ${printed})

install(DIRECTORY ${PROJECT_BINARY_DIR}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${PROJECT_BINARY_DIR}/completions/bash RENAME shardtool
  DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES ${PROJECT_BINARY_DIR}/completions/zsh RENAME _shardtool
  DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES ${PROJECT_BINARY_DIR}/completions/fish RENAME shardtool.fish
  DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
