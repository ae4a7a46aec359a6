# Real programs that end in every way, recorded in every mode: their last accesses, exactly.
cleave_test(ends SEES base abi tables trace)
add_dependencies(ends_test cleave cleave-cc cleave_pass cleave_rt)
set_tests_properties(ends PROPERTIES LABELS slow RUN_SERIAL TRUE)
