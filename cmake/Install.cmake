# `cmake --install` and what find_package(lockstep) reads. lockstep::lockstep is everything: a program that
# registers its own algorithms links it and is a complete Lockstep.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(libraries sim models checker scenarios reports library door confirm cli)
list(TRANSFORM libraries PREPEND lockstep_)

add_library(lockstep_everything INTERFACE)
set_target_properties(lockstep_everything PROPERTIES EXPORT_NAME lockstep)
add_library(lockstep::lockstep ALIAS lockstep_everything)
target_link_libraries(lockstep_everything INTERFACE ${libraries})
target_include_directories(lockstep_everything INTERFACE $<INSTALL_INTERFACE:include>)  # <lockstep/lockstep.hpp>

install(TARGETS lockstep_everything ${libraries} EXPORT lockstep ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET lockstep)
  install(TARGETS lockstep RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
# Where the program looks for it: confirm/real_server.cpp.
install(TARGETS lockstep_shifted_clock LIBRARY DESTINATION lib/lockstep)

# The headers are those that docs/api.md lists, each in a row of its own: what is public is decided there and nowhere else.
set(public_api ${PROJECT_SOURCE_DIR}/docs/api.md)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${public_api})
file(STRINGS ${public_api} rows REGEX "^\\| `[a-z0-9_/]+\\.hpp` \\|")
foreach(row IN LISTS rows)
  string(REGEX REPLACE "^\\| `([^`]+)`.*" "\\1" header "${row}")
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${PROJECT_SOURCE_DIR}/${header} DESTINATION include/lockstep/${folder})
endforeach()
# What tests of others include has a short name, too.
install(FILES ${PROJECT_SOURCE_DIR}/library/lockstep.hpp DESTINATION include/lockstep)

# Paths in docs and README are those of the repository: `cd /usr/share/lockstep && lockstep run scenarios` does what they say.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/scenarios/stories DESTINATION share/lockstep/scenarios)
install(FILES README.md CHANGELOG.md LICENSE DESTINATION share/doc/lockstep)
install(FILES LICENSE DESTINATION share/doc/lockstep RENAME copyright)
install(DIRECTORY docs examples DESTINATION share/doc/lockstep)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/lockstep)
install(EXPORT lockstep NAMESPACE lockstep:: FILE targets.cmake DESTINATION ${package})
configure_package_config_file(cmake/config.cmake.in ${PROJECT_BINARY_DIR}/lockstep-config.cmake
  INSTALL_DESTINATION ${package} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/lockstep-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/lockstep-config.cmake ${PROJECT_BINARY_DIR}/lockstep-config-version.cmake
  DESTINATION ${package})

# --- the package of Debian: cmake --build build/release && cpack --config build/release/CPackConfig.cmake -B build ----------

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME lockstep)
set(CPACK_PACKAGE_VENDOR "Lockstep")
set(CPACK_PACKAGE_CONTACT "The Lockstep developers <lockstep@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "does your distributed lock hold? simulation and model checking of locks")
set(CPACK_PACKAGE_DESCRIPTION
  "Lockstep runs lock algorithms on simulated Redis servers in virtual time, under pauses, crashes, skewed clocks, lost messages and failovers, and says which promise breaks, when, by whom, and why. "
  "It comes with the stories of the documented failures and with a C++ library for tests of locks of one's own.")
string(CONCAT CPACK_PACKAGE_DESCRIPTION ${CPACK_PACKAGE_DESCRIPTION})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
# Libraries that the program loads; dpkg-shlibdeps reads them from it.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# What cmake/config.cmake.in looks for: only programs that link Lockstep need it.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS
  "libfmt-dev, libboost-dev, libtomlplusplus-dev, nlohmann-json3-dev, libpugixml-dev, zlib1g-dev, liblua5.1-0-dev, nettle-dev, pkg-config")
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "redis-server, clang-19, cmake, openmpi-bin")
include(CPack)

# Libraries built with sanitizers are not meant to be installed: their users would have to link the same runtime.
if(LOCKSTEP_TESTS AND NOT LOCKSTEP_SANITIZE)
  foreach(example own_lock tested_lock)
    set(test package_config)
    set(type ${CMAKE_BUILD_TYPE})
    if(example STREQUAL tested_lock)
      set(test package_in_tests)
      set(type Debug)  # to optimise its few tests takes longer than they run
    endif()
    add_test(NAME ${test}
      COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR} -DEXAMPLE=${PROJECT_SOURCE_DIR}/examples/${example}
              -DCOMPILER=${CMAKE_CXX_COMPILER} -DBUILD_TYPE=${type} -DCCACHE=${LOCKSTEP_CCACHE}
              -P ${PROJECT_SOURCE_DIR}/cmake/${test}_test.cmake)
    set_tests_properties(${test} PROPERTIES TIMEOUT 300 LABELS package)
  endforeach()
endif()
if(LOCKSTEP_TESTS AND NOT LOCKSTEP_SANITIZE)
  add_test(NAME package_debian
    COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR} -DROOT=${PROJECT_SOURCE_DIR} -DCPACK=${CMAKE_CPACK_COMMAND}
            -P ${PROJECT_SOURCE_DIR}/cmake/package_debian_test.cmake)
  set_tests_properties(package_debian PROPERTIES TIMEOUT 300 LABELS package SKIP_REGULAR_EXPRESSION "(^|\n)SKIPPED: ")
  add_test(NAME package_headers
    COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR} -DROOT=${PROJECT_SOURCE_DIR} -DCOMPILER=${CMAKE_CXX_COMPILER}
            -DCCACHE=${LOCKSTEP_CCACHE} -P ${PROJECT_SOURCE_DIR}/cmake/package_headers_test.cmake)
  set_tests_properties(package_headers PROPERTIES TIMEOUT 300 LABELS package)
endif()
