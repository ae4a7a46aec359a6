# Damaged traces with right checksums through every stage of predict, each in a child with little memory.
cleave_test(hostile SEES base abi tables trace findings units dependence order analysis/predict feasibility/lift feasibility/solve judge feasibility/stage schedule exec confirm LINKS xxhash)
set_tests_properties(hostile PROPERTIES LABELS slow)
add_dependencies(hostile_test cleave cleave_pass cleave_rt)
