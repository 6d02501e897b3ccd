# Texts that pages show or are made of, within the program: it runs wherever it is copied to.

function(lockstep_embed_texts target)
  file(GLOB_RECURSE texts CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}
    ${PROJECT_SOURCE_DIR}/reports/*.css ${PROJECT_SOURCE_DIR}/reports/*.js ${PROJECT_SOURCE_DIR}/reports/*.mustache
    ${PROJECT_SOURCE_DIR}/models/locks/*.cpp ${PROJECT_SOURCE_DIR}/models/locks/*.hpp ${PROJECT_SOURCE_DIR}/models/locks/*.lua)
  list(FILTER texts EXCLUDE REGEX "_test\\.cpp$|/browser/|/node_modules/")
  list(SORT texts)
  set(out ${PROJECT_BINARY_DIR}/generated/embedded_texts.cpp)
  list(TRANSFORM texts PREPEND ${PROJECT_SOURCE_DIR}/ OUTPUT_VARIABLE files)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DOUT=${out} "-DTEXTS=${texts}"
            -P ${PROJECT_SOURCE_DIR}/cmake/EmbedTexts.cmake
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/cmake/EmbedTexts.cmake
    VERBATIM)
  target_sources(${target} PRIVATE ${out})
endfunction()
