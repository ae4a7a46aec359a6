cleave_test(hunt SEES base tables trace findings units schedule hunt)
add_dependencies(hunt_test cleave cleave-cc cleave_pass cleave_rt)
set_tests_properties(hunt PROPERTIES LABELS slow)
