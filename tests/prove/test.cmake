cleave_test(prove SEES base abi trace model schedule exec check dependence units analysis/predict order prove)
