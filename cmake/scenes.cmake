# builtin_scenes.c in the build folder: the texts of scenes/*.lua as arrays (app/builtin_scenes.h).
file(GLOB kiln_scene_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/scenes/*.lua)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${kiln_scene_files})
set(kiln_scene_texts "#include \"app/builtin_scenes.h\"\n\n")
set(kiln_scene_rows "")
set(kiln_scene_count 0)
foreach(file ${kiln_scene_files})
  get_filename_component(name ${file} NAME_WE)
  file(READ ${file} bytes HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
  string(APPEND kiln_scene_texts "static const unsigned char text_${kiln_scene_count}[] = {${bytes}};\n")
  string(APPEND kiln_scene_rows
    "    {\"${name}\", text_${kiln_scene_count}, sizeof text_${kiln_scene_count}},\n")
  math(EXPR kiln_scene_count "${kiln_scene_count} + 1")
endforeach()
set(kiln_builtin_scenes ${CMAKE_BINARY_DIR}/builtin_scenes.c)
file(GENERATE OUTPUT ${kiln_builtin_scenes} CONTENT
"${kiln_scene_texts}
const kiln_builtin_scene kiln_builtin_scenes[] = {
${kiln_scene_rows}};
const size_t kiln_builtin_scene_count = ${kiln_scene_count};
")
