# Tests of a program from outside that ask Lockstep: those of the lock that is whole pass, those of the broken one fail and show a story.

cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/installing.cmake)
build(${EXAMPLE})

must("its tests" ${CMAKE_COMMAND} -E env "RC_PARAMS=seed=20261121 max_success=30" ${work}/build/lock_tests)
foreach(expected
    "3 failed as expected"
    "own-release violated by A, B, claimed"
    "for every pause of 60ms or more"
    "own-release of token-lock-broken"
    "Falsifiable after"
    "algorithm = \"token-lock-broken\""
    "own-release = { violated_by")
  string(FIND "${output}" "${expected}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "lock_tests does not say: ${expected}\n${output}")
  endif()
endforeach()
string(REGEX MATCH "test cases:.*" totals "${output}")
message(STATUS "${totals}")
