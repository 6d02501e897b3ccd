# A program from outside that brings an algorithm is a complete Lockstep.

cmake_minimum_required(VERSION 3.25)
include(${CMAKE_CURRENT_LIST_DIR}/installing.cmake)
build(${EXAMPLE})

must("its list of algorithms" ${work}/build/own_lock list algorithms)
if(NOT output MATCHES "incr-expire" OR NOT output MATCHES "set-nx-px-lua")
  message(FATAL_ERROR "own_lock list algorithms shows not both its own and the built-in ones:\n${output}")
endif()
must("its story" ${work}/build/own_lock run ${EXAMPLE}/crash_between.toml)
message(STATUS "${output}")
