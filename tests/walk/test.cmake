cleave_test(walk SEES base abi trace model symbolic solve)
set_tests_properties(walk PROPERTIES LABELS slow)
add_dependencies(walk_test cleave cleave_pass cleave_rt)
