# program.cpp is built by the test itself, with cleave-c++.
add_executable(std_primitives_test ${CMAKE_CURRENT_LIST_DIR}/std_test.cpp)
set_target_properties(std_primitives_test PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
target_compile_options(std_primitives_test PRIVATE ${CLEAVE_WARNINGS})
target_compile_definitions(std_primitives_test PRIVATE CLEAVE_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
                           CLEAVE_BINARY_DIR="${CMAKE_BINARY_DIR}")
target_link_libraries(std_primitives_test PRIVATE GTest::gtest GTest::gtest_main)
add_dependencies(std_primitives_test cleave cleave-cc cleave_pass cleave_rt)
add_test(NAME std_primitives COMMAND std_primitives_test)
set_tests_properties(std_primitives PROPERTIES LABELS slow)
