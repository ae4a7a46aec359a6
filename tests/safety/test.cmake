# What an untrusted file, a full disk, a slow checker, a signal or a kill must not do.
add_test(NAME safety COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/safety/run.py ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
set_tests_properties(safety PROPERTIES LABELS slow)
