# Programs that are instrumented by hand and linked with the runtime.
file(GLOB runtime_programs CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/programs/*.c)
foreach(source IN LISTS runtime_programs)
  get_filename_component(program ${source} NAME_WE)
  add_executable(runtime_program_${program} ${source})
  set_target_properties(runtime_program_${program} PROPERTIES OUTPUT_NAME ${program} C_STANDARD 17 ENABLE_EXPORTS ON
                        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/runtime_programs)
  target_compile_options(runtime_program_${program} PRIVATE -O1 -fno-sanitize=all -D_GNU_SOURCE ${CLEAVE_WARNINGS})
  target_link_options(runtime_program_${program} PRIVATE -fno-sanitize=all)
  target_include_directories(runtime_program_${program} PRIVATE ${CMAKE_BINARY_DIR}/roots/abi)
  target_link_libraries(runtime_program_${program} PRIVATE cleave_rt ${CMAKE_DL_LIBS} Threads::Threads)
  list(APPEND runtime_program_targets runtime_program_${program})
endforeach()
# Libraries for dlopen, the same way.
foreach(library plugin plain_plugin)
  add_library(runtime_library_${library} MODULE ${CMAKE_CURRENT_LIST_DIR}/libraries/${library}.c)
  set_target_properties(runtime_library_${library} PROPERTIES OUTPUT_NAME ${library} PREFIX "" C_STANDARD 17
                        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/runtime_programs)
  target_compile_options(runtime_library_${library} PRIVATE -O1 -fno-sanitize=all -D_GNU_SOURCE ${CLEAVE_WARNINGS})
  target_link_options(runtime_library_${library} PRIVATE -fno-sanitize=all)
  target_include_directories(runtime_library_${library} PRIVATE ${CMAKE_BINARY_DIR}/roots/abi
                             ${CMAKE_CURRENT_LIST_DIR}/programs)
  list(APPEND runtime_program_targets runtime_library_${library})
endforeach()
target_link_libraries(runtime_library_plugin PRIVATE cleave_rt)
cleave_test(runtime SEES abi LINKS xxhash)
add_dependencies(runtime_test cleave ${runtime_program_targets})
# The same with records that are not coded: however a program ends or fills the disk, its raw trace is as good. Other
# processes than the first have none.
add_test(NAME runtime_raw COMMAND runtime_test "--gtest_filter=Ends.*:Threads.*:Libraries.*:Record.*-*Child*:*Spawned*:*ExecOfAnother*")
set_tests_properties(runtime_raw PROPERTIES ENVIRONMENT CLEAVE_TRACE_RAW=1)
# Both send signals after so many microseconds: not beside one another.
set_tests_properties(runtime runtime_raw PROPERTIES RESOURCE_LOCK runtime)
