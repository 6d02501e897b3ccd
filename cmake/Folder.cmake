# A folder of the project: what a source becomes follows from its name, so adding a source is adding a file.
#
#   *_test.cpp    part of <folder>_tests; ctest runs each file on its own, so that a hang or a crash names the file
#   *_fuzz.cpp    a libFuzzer program named like the file (preset dev only)
#   *_bench.cpp   a program named like the file; never run by tests
#   *_tool.cpp    a program named like the file without _tool
#   main.cpp      left to the folder's own CMakeLists.txt
#   other *.cpp   the library lockstep_<folder>, also called lockstep::<folder>
#
# lockstep_folder(<folder> [LINKS <libraries of the library>...] [TEST_LINKS <more for its tests>...])

function(lockstep_folder folder)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINKS;TEST_LINKS")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  foreach(kind test fuzz bench tool)
    set(${kind}_sources ${sources})
    list(FILTER ${kind}_sources INCLUDE REGEX "_${kind}\\.cpp$")
    list(FILTER sources EXCLUDE REGEX "_${kind}\\.cpp$")
  endforeach()

  set(library lockstep_${folder})
  if(sources)
    add_library(${library} STATIC ${sources})
    set(scope PUBLIC)
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
    foreach(source ${fuzz_sources})
      get_filename_component(name ${source} NAME_WE)
      lockstep_program(${name} ${source} ${library})
      target_link_options(${name} PRIVATE -fsanitize=fuzzer)
      # .ci/run runs what stands in this list; it needs no list of its own that somebody would forget.
      set_property(GLOBAL APPEND PROPERTY LOCKSTEP_FUZZERS "${folder} $<TARGET_FILE:${name}>")
    endforeach()
  endif()
  if(NOT LOCKSTEP_TESTS)
    return()
  endif()
  foreach(source ${tool_sources})
    get_filename_component(name ${source} NAME_WE)
    string(REGEX REPLACE "_tool$" "" name ${name})
    lockstep_program(${name} ${source} ${library})
  endforeach()
  foreach(source ${bench_sources})
    get_filename_component(name ${source} NAME_WE)
    lockstep_program(${name} ${source} ${library})
    if(NOT CMAKE_BUILD_TYPE STREQUAL "Release")
      set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL TRUE)
    endif()
  endforeach()
  if(test_sources)
    add_executable(${folder}_tests ${test_sources})
    target_link_libraries(${folder}_tests PRIVATE ${library} ${arg_TEST_LINKS} Catch2::Catch2WithMain rapidcheck)
    # Tests read scenario files and corpora where they are, whatever the working directory is.
    lockstep_tell_root(${test_sources})
    foreach(source ${test_sources})
      get_filename_component(tag ${source} NAME_WE)
      file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${source})
      string(REGEX REPLACE "\\.cpp$" "" name ${name})
      # NoTests: a file in which Catch2 finds nothing to run has failed.
      add_test(NAME ${name} COMMAND ${folder}_tests --filenames-as-tags "[#${tag}]" -w NoTests WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
      # The same random cases each time: a red run must be the change's fault. The fuzzers look for new ones.
      # A test that lacks a program to compare with says so at the beginning of a line, and counts as skipped, not as passed.
      set_tests_properties(${name} PROPERTIES TIMEOUT 600 ENVIRONMENT "RC_PARAMS=seed=20261121"
        SKIP_REGULAR_EXPRESSION "(^|\n)SKIPPED: ")
    endforeach()
  endif()
endfunction()

function(lockstep_program name source library)
  add_executable(${name} ${source})
  target_link_libraries(${name} PRIVATE ${library})
  lockstep_tell_root(${source})
endfunction()

# Only to files that ask for it: a path in the command line would keep the compiler cache of one checkout from serving another.
function(lockstep_tell_root)
  foreach(source ${ARGN})
    file(STRINGS ${source} asks REGEX "LOCKSTEP_ROOT" LIMIT_COUNT 1)
    if(asks)
      set_property(SOURCE ${source} APPEND PROPERTY COMPILE_DEFINITIONS LOCKSTEP_ROOT="${PROJECT_SOURCE_DIR}")
    endif()
  endforeach()
endfunction()
