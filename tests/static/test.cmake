# Views alone, and whole programs that cleave-cc and cleave-c++ build.
cleave_test(static SEES base abi tables trace findings units program analysis/static)
set_tests_properties(static PROPERTIES LABELS slow)
add_dependencies(static_test cleave_pass cleave_rt cleave-cc cleave_static_module)
