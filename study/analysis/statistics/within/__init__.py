"""Run within-subject tests: every participant plays every condition.

The data flow::

    MeasureTable
    → CompleteCases        complete_cases.py                     participants with a value in every condition
    → results              one module per test, result_types.py  called by run_within_tests.py
    → rows and sentences   result_rows.py, result_sentences.py   (in the parent package)

Result types import fast. Modules that compute load numpy and scipy, so `run_analysis` imports
`run_within_tests` only when it is needed.
"""
