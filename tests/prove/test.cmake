cleave_test(prove SEES base trace model check analysis/predict order prove)
