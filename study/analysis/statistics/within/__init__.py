"""Run statistical tests within subjects, for studies in which every participant plays every condition.

The data flow::

    MeasureTable
    → CompleteCases        complete_cases.py                     participants with a value in every condition
    → results              one module per test, result_types.py  called by run_within_tests.py
    → rows and sentences   result_rows.py, result_sentences.py   (in the parent package)

The modules that compute are slow to import, because they load numpy and scipy. So `run_analysis` imports
`run_within_tests` only when it runs tests. The module with the result types imports fast.
"""
