# cmake -DOUT=<folder> -DSCRIPTS=<a.lua;b.lua> -P EmbedLua.cmake   writes <folder>/scripts.hpp and scripts.cpp

cmake_minimum_required(VERSION 3.25)

set(close ")lockstep-lua\"")
set(declarations "")
set(definitions "")
set(seen "")
foreach(script IN LISTS SCRIPTS)
  get_filename_component(name "${script}" NAME_WE)
  string(REGEX REPLACE "[^A-Za-z0-9]" "_" name "${name}")
  if(name IN_LIST seen)
    message(FATAL_ERROR "${script}: another script is already called ${name}_lua")
  endif()
  list(APPEND seen ${name})
  file(READ "${script}" text)
  string(FIND "${text}" "${close}" clash)
  if(NOT clash EQUAL -1)
    message(FATAL_ERROR "${script}: contains ${close}, which ends the C++ string that holds it")
  endif()
  string(APPEND declarations "extern const std::string_view ${name}_lua;\n")
  string(APPEND definitions "const std::string_view ${name}_lua = R\"lockstep-lua(${text}${close};\n")
endforeach()

file(MAKE_DIRECTORY "${OUT}")
file(WRITE "${OUT}/scripts.hpp"
  "#pragma once\n// Generated from models/**/*.lua by cmake/EmbedLua.cmake.\n\n#include <string_view>\n\n"
  "namespace lockstep::models::scripts {\n${declarations}}\n")
file(WRITE "${OUT}/scripts.cpp"
  "#include \"models/scripts.hpp\"\n\nnamespace lockstep::models::scripts {\n${definitions}}\n")
