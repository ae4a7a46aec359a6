cleave_test(symbolic SEES base tables trace feasibility/lift)
