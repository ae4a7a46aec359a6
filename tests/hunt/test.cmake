cleave_test(hunt SEES base abi tables trace findings dependence units order analysis/predict schedule exec judge confirm hunt)
add_dependencies(hunt_test cleave cleave-cc cleave_pass cleave_rt)
set_tests_properties(hunt PROPERTIES LABELS slow)
