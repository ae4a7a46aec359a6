cleave_test(solve SEES base trace model symbolic solve)
set_tests_properties(solve PROPERTIES LABELS slow)
