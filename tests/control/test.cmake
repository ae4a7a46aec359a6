# Programs that are built with cleave-c++ as a user would, and run under control.
file(GLOB control_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_LIST_DIR}/programs/*.cpp)
set(control_folder ${CMAKE_BINARY_DIR}/tests/control_programs)
file(MAKE_DIRECTORY ${control_folder})
set(control_binaries)
foreach(source IN LISTS control_sources)
  get_filename_component(program ${source} NAME_WE)
  add_custom_command(OUTPUT ${control_folder}/${program}
                     COMMAND ${CMAKE_BINARY_DIR}/bin/cleave-c++ -std=c++20 -g -O1 -pthread ${source} -o
                             ${control_folder}/${program}
                     DEPENDS ${source} cleave-cc cleave_pass cleave_rt VERBATIM)
  list(APPEND control_binaries ${control_folder}/${program})
endforeach()
add_custom_target(control_programs DEPENDS ${control_binaries})
cleave_test(control SEES base abi tables trace findings units dependence order analysis/predict schedule exec confirm)
add_dependencies(control_test control_programs cleave)
set_tests_properties(control PROPERTIES ENVIRONMENT "GTEST_FILTER=-Rounds.*" LABELS slow)
add_test(NAME control_rounds COMMAND control_test --gtest_filter=Rounds.*)
set_tests_properties(control_rounds PROPERTIES LABELS slow)
