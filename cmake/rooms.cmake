# The rooms of the house, and which may include which. Written here and nowhere else.
#
# Every room is one static library with an include root of its own: a folder in the build tree that holds a single
# link to the room's sources. A room sees its own root and those of the rooms it names after SEES, so an #include
# that is not permitted does not compile. tests/layering checks the same table against the sources.
#
#   cleave_room(trace SEES base abi LINKS zstd xxhash)
#
# FOLDERS  folders of the room that hold sources too; a folder groups files, it is not a room
# SEES     rooms whose headers this room may include
# LINKS    libraries from outside
function(cleave_room name)
  cmake_parse_arguments(ROOM "" "" "FOLDERS;SEES;LINKS" ${ARGN})
  string(REPLACE "/" "_" id ${name})
  set(source_dir ${CMAKE_SOURCE_DIR}/src/${name})
  set(root ${CMAKE_BINARY_DIR}/roots/${id})
  get_filename_component(parent ${root}/${name} DIRECTORY)
  file(MAKE_DIRECTORY ${parent})
  file(CREATE_LINK ${source_dir} ${root}/${name} SYMBOLIC)

  set(patterns ${source_dir}/*.cpp)
  foreach(folder IN LISTS ROOM_FOLDERS)
    list(APPEND patterns ${source_dir}/${folder}/*.cpp)
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  set(target cleave_${id})
  if(sources)
    add_library(${target} STATIC ${sources})
    set(scope PRIVATE)
    target_compile_options(${target} PRIVATE ${CLEAVE_WARNINGS})
    if("LLVM" IN_LIST ROOM_LINKS)
      cleave_precompile(${target} llvm_room ${CLEAVE_STANDARD_HEADERS} ${CLEAVE_LLVM_HEADERS})
    elseif("fmt::fmt" IN_LIST ROOM_LINKS)
      cleave_precompile(${target} room ${CLEAVE_STANDARD_HEADERS})
    endif()
  else()
    add_library(${target} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(${target} ${scope} ${root})
  foreach(seen IN LISTS ROOM_SEES)
    string(REPLACE "/" "_" seen_id ${seen})
    target_include_directories(${target} ${scope} ${CMAKE_BINARY_DIR}/roots/${seen_id})
    target_link_libraries(${target} ${scope} cleave_${seen_id})
  endforeach()
  target_link_libraries(${target} ${scope} ${ROOM_LINKS})
  set_property(GLOBAL APPEND PROPERTY CLEAVE_ROOMS "${name}:${ROOM_SEES}")
  set_property(GLOBAL PROPERTY CLEAVE_SEES_${id} "${ROOM_SEES}")
endfunction()

# Gives a target that is not a room (a tool, a test) the include roots and libraries of the rooms it names.
function(cleave_use target)
  foreach(seen IN LISTS ARGN)
    string(REPLACE "/" "_" seen_id ${seen})
    target_include_directories(${target} PRIVATE ${CMAKE_BINARY_DIR}/roots/${seen_id})
    target_link_libraries(${target} PRIVATE cleave_${seen_id})
  endforeach()
endfunction()

set(CLEAVE_WARNINGS -Wall -Wextra -Wno-unused-parameter -Wno-missing-designated-field-initializers)
if(CLEAVE_WERROR)
  list(APPEND CLEAVE_WARNINGS -Werror)
endif()
if(CLEAVE_SANITIZE)
  add_compile_options(-fsanitize=${CLEAVE_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${CLEAVE_SANITIZE})
endif()
