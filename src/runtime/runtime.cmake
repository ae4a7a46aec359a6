# The runtime is no static library of the tool but one shared library inside the program under test: no exceptions, no
# RTTI, no C++ library, never sanitized, and only what exports.map names is visible.
target_compile_options(cleave_runtime PRIVATE -fno-exceptions -fno-rtti -fno-threadsafe-statics -fvisibility=hidden
                       -fasynchronous-unwind-tables -fno-sanitize=all -O2 -ftls-model=initial-exec
                       -Wno-invalid-noreturn -Wno-builtin-requires-header)
# The one file through which exceptions pass. C: it needs libgcc's personality, not that of the C++ library.
target_sources(cleave_runtime PRIVATE ${CMAKE_CURRENT_LIST_DIR}/interpose/guarded_call.c)
set_source_files_properties(${CMAKE_CURRENT_LIST_DIR}/interpose/guarded_call.c PROPERTIES
                            COMPILE_OPTIONS "-fexceptions;-Wno-unused-command-line-argument")
add_library(cleave_rt SHARED $<TARGET_OBJECTS:cleave_runtime>)
set_target_properties(cleave_rt PROPERTIES LINKER_LANGUAGE C NO_SONAME OFF
                      LINK_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/exports.map)
target_link_options(cleave_rt PRIVATE -nostdlib++ -fno-sanitize=all -Wl,--as-needed -Wl,-z,defs -Wl,-z,now
                    -Wl,--version-script=${CMAKE_CURRENT_LIST_DIR}/exports.map)
