cleave_test(check_programs SEES base findings units report)
add_dependencies(check_programs_test cleave cleave-cc)
set_tests_properties(check_programs PROPERTIES LABELS slow)
