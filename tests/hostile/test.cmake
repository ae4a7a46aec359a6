# Damaged traces with right checksums through every stage of predict, each in a child with little memory.
cleave_test(hostile SEES base abi trace model dependence units order analysis/predict symbolic solve check decide schedule exec prove LINKS xxhash)
set_tests_properties(hostile PROPERTIES LABELS slow)
add_dependencies(hostile_test cleave cleave_pass cleave_rt)
