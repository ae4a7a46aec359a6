# What an untrusted file, a full disk, a slow checker, a signal or a kill must not do.
add_test(NAME safety COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/safety/run.py ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
set_tests_properties(safety PROPERTIES LABELS slow)
# A hundredth of a soak, but for the hostile files: a thousandth here, and the hostile test has more.
add_test(NAME soak COMMAND ${CMAKE_SOURCE_DIR}/scripts/soak ${CMAKE_BINARY_DIR} --share 0.01 --only kills rounds interrupts parallel)
add_test(NAME soak_hostile COMMAND ${CMAKE_SOURCE_DIR}/scripts/soak ${CMAKE_BINARY_DIR} --share 0.001 --only hostile)
set_tests_properties(soak soak_hostile PROPERTIES LABELS slow)
