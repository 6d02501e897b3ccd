# The compiler, and the flags that every file of the project is compiled with.

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
  message(FATAL_ERROR
    "GCC ${CMAKE_CXX_COMPILER_VERSION} cannot build Lockstep: it miscompiles coroutines (temporaries of a co_await "
    "expression are destroyed twice, `if (!co_await f(..))` takes the wrong branch), and all clients here are "
    "coroutines. Verdicts of such a build would be worthless. Use clang++-19 (cmake --preset release does) or GCC 14.")
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release or Debug" FORCE)
endif()

# Assertions stay on in every build: a simulator that silently continues from a wrong state proves nothing.
foreach(flags CMAKE_CXX_FLAGS_RELEASE CMAKE_CXX_FLAGS_RELWITHDEBINFO CMAKE_CXX_FLAGS_MINSIZEREL)
  string(REPLACE "-DNDEBUG" "" ${flags} "${${flags}}")
endforeach()

option(LOCKSTEP_WERROR "Warnings are errors" OFF)
option(LOCKSTEP_COMPILE_TOGETHER "Several sources of a library at a time: half the time from clean, longer after a small change" OFF)
option(LOCKSTEP_OPTIMISE_ALL "Optimise everything: cold rooms of the program and tests as well" OFF)
option(LOCKSTEP_SANITIZE_ALL "With LOCKSTEP_SANITIZE also what the address sanitizer or a crash finds anyway; a quarter longer to compile" OFF)
option(LOCKSTEP_SANITIZE "Address and undefined-behaviour sanitizers; the first finding ends the program" OFF)

add_compile_options(
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Woverloaded-virtual
  # {.nx = true, .px = ttl} is how options are passed here; what is left out has its default.
  -Wno-missing-field-initializers
  # A fused multiply-add rounds differently: the same run would print other digits on another machine.
  -ffp-contract=off
  # __FILE__ appears in assertion messages, and must not depend on where the tree was checked out. The relative
  # form is for ccache, which rewrites paths to be relative to the build folder.
  -fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=)
file(RELATIVE_PATH from_build "${PROJECT_BINARY_DIR}" "${PROJECT_SOURCE_DIR}")
string(REGEX REPLACE "/$" "" from_build "${from_build}")
add_compile_options(-fmacro-prefix-map=${from_build}/=)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_compile_options(-Wno-missing-designated-field-initializers -fdiagnostics-absolute-paths)
endif()
if(LOCKSTEP_WERROR)
  add_compile_options(-Werror)
endif()
# Under ninja the compiler's output is a pipe, so it would never colour it by itself.
if(DEFINED ENV{LOCKSTEP_COLOR_DIAGNOSTICS})
  add_compile_options(-fdiagnostics-color=always)
endif()

# Whether there are programs without optimisation beside the others: what the first call runs, and what must print the same bytes.
set(LOCKSTEP_PLAIN OFF)
if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT LOCKSTEP_SANITIZE)
  set(LOCKSTEP_PLAIN ON)
endif()
# Libraries of ours are not linked to each other: an archive does not wait for those that it uses.
set(CMAKE_OPTIMIZE_DEPENDENCIES ON)

set(LOCKSTEP_FUZZ OFF)
if(LOCKSTEP_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
  if(NOT LOCKSTEP_SANITIZE_ALL)
    # In front of each access through a pointer, and so a quarter of what compiling takes (91.6 to 68.4 s for one group of models).
    add_compile_options(-fno-sanitize=null,alignment,vptr,object-size)
  endif()
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    set(LOCKSTEP_FUZZ ON)
  endif()
endif()
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
endif()

find_program(LOCKSTEP_LLD NAMES ld.lld-19)
if(LOCKSTEP_LLD AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_link_options(-fuse-ld=lld)
endif()

find_program(LOCKSTEP_CCACHE NAMES ccache)
if(LOCKSTEP_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  # With a base folder, a second checkout of the same sources finds the first one's results. That is why no headers are precompiled: clang
  # writes absolute paths into them and their users' command lines, and of 29 files ccache then knew none in another folder.
  set(CMAKE_CXX_COMPILER_LAUNCHER
    ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${LOCKSTEP_CCACHE})
endif()
