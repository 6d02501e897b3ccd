# Installs the build into a prefix of its own; `build` then does what a user outside would do: find_package, build. Included by the tests that look at what
# was installed; -DBUILD=, -DEXAMPLE=, -DCOMPILER=, -DBUILD_TYPE=, -DCCACHE=.

get_filename_component(example ${EXAMPLE} NAME)
set(work ${BUILD}/package_${example})
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

function(build source)
  must("configuring" ${CMAKE_COMMAND} -G Ninja -S ${source} -B ${work}/build
    -DCMAKE_PREFIX_PATH=${work}/prefix -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_BUILD_TYPE=${BUILD_TYPE})
  must("building" ${CMAKE_COMMAND} --build ${work}/build)
endfunction()

must("installing" ${CMAKE_COMMAND} --install ${BUILD} --prefix ${work}/prefix)
