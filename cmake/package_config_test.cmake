# Installs the build into a prefix of its own, then does what a user outside would do: find_package, build, run.

cmake_minimum_required(VERSION 3.25)

set(work ${BUILD}/package_config_test)
if(CCACHE)
  set(ENV{CMAKE_CXX_COMPILER_LAUNCHER} ${CCACHE})
endif()
file(REMOVE_RECURSE ${work})

function(must what)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${what} failed (${status}):\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

must("installing" ${CMAKE_COMMAND} --install ${BUILD} --prefix ${work}/prefix)
must("configuring the example" ${CMAKE_COMMAND} -G Ninja -S ${EXAMPLE} -B ${work}/build
  -DCMAKE_PREFIX_PATH=${work}/prefix -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_BUILD_TYPE=${BUILD_TYPE})
must("building the example" ${CMAKE_COMMAND} --build ${work}/build)
must("its list of algorithms" ${work}/build/own_lock list algorithms)
if(NOT output MATCHES "incr-expire" OR NOT output MATCHES "set-nx-px-lua")
  message(FATAL_ERROR "own_lock list algorithms shows not both its own and the built-in ones:\n${output}")
endif()
must("its story" ${work}/build/own_lock run ${EXAMPLE}/crash_between.toml)
message(STATUS "${output}")
