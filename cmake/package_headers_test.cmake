# What is installed of headers is what docs/api.md lists, and each can be included alone: nothing public needs what is not.

cmake_minimum_required(VERSION 3.25)
set(EXAMPLE headers)
include(${CMAKE_CURRENT_LIST_DIR}/installing.cmake)

file(STRINGS ${ROOT}/docs/api.md rows REGEX "^\\| `.*\\.hpp`")
list(TRANSFORM rows REPLACE "^\\| `([^`]+)`.*" "\\1" OUTPUT_VARIABLE expected)
list(APPEND expected lockstep.hpp)
list(SORT expected)
file(GLOB_RECURSE installed RELATIVE ${work}/prefix/include/lockstep ${work}/prefix/include/*)
list(SORT installed)
if(NOT installed STREQUAL expected)
  message(FATAL_ERROR "docs/api.md lists\n${expected}\nand installed are\n${installed}")
endif()

set(sources "")
foreach(header ${installed})
  string(REPLACE "/" "_" source "${header}.cpp")
  file(WRITE ${work}/source/${source} "#include <${header}>\n")
  list(APPEND sources ${source})
endforeach()
file(WRITE ${work}/source/with_the_name.cpp "#include <lockstep/lockstep.hpp>\n")
list(JOIN sources " " sources)
file(WRITE ${work}/source/CMakeLists.txt "cmake_minimum_required(VERSION 3.25)\nproject(headers LANGUAGES CXX)\n"
  "find_package(lockstep REQUIRED)\nadd_library(headers STATIC with_the_name.cpp ${sources})\n"
  "target_link_libraries(headers PRIVATE lockstep::lockstep)\n")
build(${work}/source)
message(STATUS "each of them compiles alone")
