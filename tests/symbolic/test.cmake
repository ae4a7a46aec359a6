cleave_test(symbolic SEES base trace symbolic)
