# `cmake --install` and what find_package(lockstep) reads. lockstep::lockstep is everything: a program that
# registers its own algorithms links it and is a complete Lockstep.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(folders sim models checker scenarios reports library door confirm cli)
list(TRANSFORM folders PREPEND lockstep_ OUTPUT_VARIABLE libraries)

add_library(lockstep_everything INTERFACE)
set_target_properties(lockstep_everything PROPERTIES EXPORT_NAME lockstep)
add_library(lockstep::lockstep ALIAS lockstep_everything)
target_link_libraries(lockstep_everything INTERFACE ${libraries})
target_include_directories(lockstep_everything INTERFACE $<INSTALL_INTERFACE:include>)  # <lockstep/lockstep.hpp>

install(TARGETS lockstep_everything ${libraries} EXPORT lockstep ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET lockstep)
  install(TARGETS lockstep RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
# What tests of others include has its place above the folders; what else is in `library` is nobody's business.
install(FILES ${PROJECT_SOURCE_DIR}/library/lockstep.hpp DESTINATION include/lockstep)
list(REMOVE_ITEM folders library)
# Where the program looks for it: confirm/real_server.cpp.
install(TARGETS lockstep_shifted_clock LIBRARY DESTINATION lib/lockstep)
foreach(folder ${folders})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} DESTINATION include/lockstep
    FILES_MATCHING PATTERN "*.hpp" PATTERN corpus EXCLUDE PATTERN testing EXCLUDE)
endforeach()
if(LOCKSTEP_GENERATED_HEADERS)
  install(FILES ${LOCKSTEP_GENERATED_HEADERS} DESTINATION include/lockstep/models)
endif()

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/lockstep)
install(EXPORT lockstep NAMESPACE lockstep:: FILE targets.cmake DESTINATION ${package})
configure_package_config_file(cmake/config.cmake.in ${PROJECT_BINARY_DIR}/lockstep-config.cmake
  INSTALL_DESTINATION ${package} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/lockstep-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/lockstep-config.cmake ${PROJECT_BINARY_DIR}/lockstep-config-version.cmake
  DESTINATION ${package})

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
    set_tests_properties(${test} PROPERTIES TIMEOUT 300)
  endforeach()
endif()
