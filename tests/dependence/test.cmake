# What depends on what, in programs that cleave-cc builds; and causal units on programs/everyday and programs/correct.
cleave_test(dependence SEES base abi tables trace program dependence dependence/bitcode LINKS LLVM)
add_dependencies(dependence_test cleave-cc cleave_pass cleave_rt)
add_test(NAME causal_units COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/dependence/causal_units.py ${CMAKE_SOURCE_DIR}
         ${CMAKE_BINARY_DIR})
set_tests_properties(causal_units PROPERTIES LABELS slow RUN_SERIAL TRUE)
