cleave_test(confirm SEES base abi tables trace findings units schedule exec judge dependence analysis/predict order confirm)
