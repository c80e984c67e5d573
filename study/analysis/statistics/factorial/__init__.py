"""Run statistical tests of factorial designs: any factors between and within participants.

The data flow::

    FactorialRow           factorial_cases.py           one value of a participant with its factor levels
    → FactorialCases       factorial_cases.py           participants with a value in every cell
    → analysis of variance factorial_anova.py           every effect, simple effects
    → means and contrasts  cell_means.py                marginal means, planned contrasts of cells
    → covariates           covariance_analysis.py       designs between participants
    FactorialRow
    → mixed models         factorial_mixed_model.py     data with gaps
                           ordinal_mixed_model.py       ratings; ordinal_likelihood.py fits the model

`factorial_results.py` and `mixed_model_results.py` define the results. A test that the data do not allow
returns `NotComputable`. The package imports numpy and scipy, so it is slow to import.
"""
