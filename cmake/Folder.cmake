# A folder of the project: what a source becomes follows from its name, so adding a source is adding a file.
#
#   *_test.cpp    part of <folder>_tests, or if test-seconds.txt names it of <folder>_long_tests; ctest runs each file on its own, so that a hang or a crash names the file
#   *_testing.cpp part of both of these programs
#   *_fuzz.cpp    a libFuzzer program named like the file (preset dev only)
#   *_bench.cpp   a program named like the file; never run by tests
#   *_tool.cpp    a program named like the file without _tool; these two are built in preset release, in others if asked for
#   main.cpp      left to the folder's own CMakeLists.txt
#   other *.cpp   the library lockstep_<folder>, also called lockstep::<folder>
#
# lockstep_folder(<folder> [LINKS <libraries of the library>...] [TEST_LINKS <more for its tests>...] [FUZZED <the only subfolder that its fuzzers feed>])

function(lockstep_folder folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FUZZED" "LINKS;TEST_LINKS")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  foreach(kind test testing fuzz bench tool)
    set(${kind}_sources ${sources})
    list(FILTER ${kind}_sources INCLUDE REGEX "_${kind}\\.cpp$")
    list(FILTER sources EXCLUDE REGEX "_${kind}\\.cpp$")
  endforeach()

  set(library lockstep_${folder})
  if(sources)
    add_library(${library} STATIC ${sources})
    set(scope PUBLIC)
    lockstep_compile_together(${library} 16 ${sources})
  else()
    add_library(${library} INTERFACE)
    set(scope INTERFACE)
  endif()
  add_library(lockstep::${folder} ALIAS ${library})
  set_target_properties(${library} PROPERTIES EXPORT_NAME ${folder})
  target_include_directories(${library} ${scope}
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:include/lockstep>)
  target_compile_features(${library} ${scope} cxx_std_20)
  target_link_libraries(${library} ${scope} ${arg_LINKS})

  if(LOCKSTEP_FUZZ)
    # Coverage counters in what the fuzzers feed, or they would be blind to everything but their own files. Tests have no use for them, and where
    # they are all over an exploration it takes nearly twice as long.
    if(arg_FUZZED)
      set(fed ${sources})
      list(FILTER fed INCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/${arg_FUZZED}/")
      set_property(SOURCE ${fed} APPEND PROPERTY COMPILE_OPTIONS -fsanitize=fuzzer-no-link)
    elseif(sources AND fuzz_sources)
      target_compile_options(${library} PRIVATE -fsanitize=fuzzer-no-link)
    endif()
    foreach(source ${fuzz_sources})
      get_filename_component(name ${source} NAME_WE)
      lockstep_program(${name} ${source} ${library})
      target_compile_options(${name} PRIVATE -fsanitize=fuzzer-no-link)
      target_link_options(${name} PRIVATE -fsanitize=fuzzer)
      # .ci/run runs what stands in this list; it needs no list of its own that somebody would forget.
      set_property(GLOBAL APPEND PROPERTY LOCKSTEP_FUZZERS "${folder} $<TARGET_FILE:${name}>")
    endforeach()
  endif()
  if(NOT LOCKSTEP_TESTS)
    return()
  endif()
  foreach(source ${tool_sources} ${bench_sources})
    get_filename_component(name ${source} NAME_WE)
    string(REGEX REPLACE "_tool$" "" name ${name})
    lockstep_program(${name} ${source} ${library})
    if(source MATCHES "_tool\\.cpp$")
      lockstep_asks_costly_invariants(${name})
    endif()
    if(NOT CMAKE_BUILD_TYPE STREQUAL "Release")
      set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL TRUE)
    endif()
  endforeach()
  file(STRINGS ${PROJECT_SOURCE_DIR}/cmake/test-seconds.txt seconds_of)
  foreach(source ${test_sources})
    get_filename_component(tag ${source} NAME_WE)
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${source})
    string(REGEX REPLACE "\\.cpp$" "" name ${name})
    set(program ${folder}_tests)
    set(seconds 0)
    if(seconds_of MATCHES "(^|;)${name} ([0-9]+)(;|$)")
      set(program ${folder}_long_tests)
      set(seconds ${CMAKE_MATCH_2})
    endif()
    if(NOT TARGET ${program})
      lockstep_test_program(${program} LINKS ${library} ${arg_TEST_LINKS} SOURCES ${testing_sources})
    endif()
    target_sources(${program} PRIVATE ${source})
    list(APPEND sources_of_${program} ${source})
    # NoTests: a file in which Catch2 finds nothing to run has failed.
    add_test(NAME ${name} COMMAND ${program} --filenames-as-tags "[#${tag}]" -w NoTests WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    # The same random cases each time: a red run must be the change's fault. The fuzzers look for new ones.
    # A test that lacks a program to compare with says so at the beginning of a line, and counts as skipped, not as passed.
    # Long ones first, or one core would wait for the other at the end. ctest knows no times of earlier runs in a clean clone.
    set_tests_properties(${name} PROPERTIES TIMEOUT 1200 ENVIRONMENT "RC_PARAMS=seed=20261121"
      SKIP_REGULAR_EXPRESSION "(^|\n)SKIPPED: " COST ${seconds})
  endforeach()
  if(sources_of_${folder}_tests)
    lockstep_compile_together(${folder}_tests 16 ${sources_of_${folder}_tests})
  endif()
  if(sources_of_${folder}_long_tests)
    lockstep_compile_together(${folder}_long_tests 8 ${sources_of_${folder}_long_tests})
  endif()
  # To optimise short tests takes longer than they then run. They are a program of their own: of an inline function that both have, the
  # linker takes one, and that must not be the slow one where it matters. Those of the engine ask how coroutines are optimised, which release does.
  if(TARGET ${folder}_tests AND NOT (folder STREQUAL "sim" AND CMAKE_BUILD_TYPE STREQUAL "Release"))
    target_compile_options(${folder}_tests PRIVATE -O0)
  endif()
endfunction()

# Sources of a target, about `size` at a time: what they include is then read once. Which ones go together follows from their names and not from
# their order, so that a new file moves no other one. Names in their anonymous namespaces meet (each test has a namespace of its own);
# what a file forgot to include is found by tidy.
function(lockstep_compile_together target size)
  if(NOT LOCKSTEP_COMPILE_TOGETHER)
    return()
  endif()
  list(LENGTH ARGN count)
  set(groups 1)
  while(groups LESS_EQUAL 64 AND count GREATER size)
    math(EXPR groups "${groups} * 2")
    math(EXPR count "(${count} + 1) / 2")
  endwhile()
  foreach(source ${ARGN})
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${source})
    string(MD5 hash ${name})
    string(SUBSTRING ${hash} 0 6 hash)
    math(EXPR group "0x${hash} % ${groups}")
    set_property(SOURCE ${source} PROPERTY UNITY_GROUP together_${group})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# Tests of a folder, to which the caller adds the files.
function(lockstep_test_program name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINKS;SOURCES")
  # Tests read scenario files and corpora where they are, whatever the working directory is: sim/testing/in_tree.hpp.
  set(in_tree ${PROJECT_BINARY_DIR}/generated/in_tree.cpp)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/in_tree.cpp.in ${in_tree} @ONLY)
  add_executable(${name} ${in_tree} ${arg_SOURCES})
  lockstep_asks_costly_invariants(${name})
  target_link_libraries(${name} PRIVATE ${arg_LINKS} Catch2::Catch2WithMain rapidcheck)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  if(LOCKSTEP_SANITIZE OR CMAKE_BUILD_TYPE STREQUAL "Debug")
    target_compile_definitions(${name} PRIVATE LOCKSTEP_FEW_CASES)  # sim/testing/test_effort.hpp
  endif()
endfunction()

# sim/invariant.hpp: the library asks whom it is linked to.
function(lockstep_asks_costly_invariants name)
  set(asks ${PROJECT_BINARY_DIR}/generated/costly_invariants.cpp)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/costly_invariants.cpp.in ${asks} COPYONLY)
  target_sources(${name} PRIVATE ${asks})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
endfunction()

function(lockstep_program name source library)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE ${library})
endfunction()
