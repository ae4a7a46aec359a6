# The whole way of the bank example, and what predict and replay say to bad input.
add_test(NAME predict_cli COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/predict_cli/run.py ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
set_tests_properties(predict_cli PROPERTIES LABELS slow)
# What is said and returned when a command could not finish.
add_test(NAME predict_unfinished COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/predict_cli/unfinished.py ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
set_tests_properties(predict_unfinished PROPERTIES LABELS slow)
