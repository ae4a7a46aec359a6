cleave_test(trace_programs SEES base abi tables trace)
target_sources(trace_programs_test PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/trace/same_stream.cpp)
add_dependencies(trace_programs_test cleave cleave_pass cleave_rt)
set_tests_properties(trace_programs PROPERTIES LABELS slow FIXTURES_REQUIRED programs_cleave)
