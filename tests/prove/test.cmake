cleave_test(prove SEES base abi trace model check analysis/predict order prove)
