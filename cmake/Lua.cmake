# Makes the folder's *.lua files available to C++ as `lockstep::models::scripts::<name>_lua`, from
# "models/scripts.hpp". A script thereby stays a file of its own, readable and diffable as the document's text.

function(lockstep_embed_lua target)
  file(GLOB_RECURSE scripts CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.lua")
  set(generated ${PROJECT_BINARY_DIR}/generated)
  set(outputs ${generated}/models/scripts.hpp ${generated}/models/scripts.cpp)
  add_custom_command(
    OUTPUT ${outputs}
    COMMAND ${CMAKE_COMMAND} -DOUT=${generated}/models "-DSCRIPTS=${scripts}"
            -P ${PROJECT_SOURCE_DIR}/cmake/EmbedLua.cmake
    DEPENDS ${scripts} ${PROJECT_SOURCE_DIR}/cmake/EmbedLua.cmake
    COMMENT "Embedding Lua scripts"
    VERBATIM)
  get_target_property(type ${target} TYPE)
  if(type STREQUAL "INTERFACE_LIBRARY")
    return()
  endif()
  target_sources(${target} PRIVATE ${outputs})
  target_include_directories(${target} PUBLIC $<BUILD_INTERFACE:${generated}>)
  set(LOCKSTEP_GENERATED_HEADERS ${generated}/models/scripts.hpp CACHE INTERNAL "")
endfunction()
