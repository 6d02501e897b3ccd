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
  # A target of its own, so that who needs the header does not wait for the folder's library.
  add_library(lockstep_scripts OBJECT ${outputs})
  target_include_directories(lockstep_scripts PRIVATE ${generated})
  foreach(user ${target} ${target}_plain)
    if(TARGET ${user})
      target_sources(${user} PRIVATE $<TARGET_OBJECTS:lockstep_scripts>)
      target_include_directories(${user} PUBLIC $<BUILD_INTERFACE:${generated}>)
      add_dependencies(${user} lockstep_scripts)
    endif()
  endforeach()
endfunction()
