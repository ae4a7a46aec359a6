cleave_test(solve SEES base tables trace findings units feasibility/lift feasibility/solve)
set_tests_properties(solve PROPERTIES LABELS slow)
