"""Within-subject tests: every participant plays every condition.

The data flow: a `MeasureTable` → `Cells`, the participants with a value in every condition
(complete_cases.py) → a module for each test → results (result_types.py), all called by run_within_tests.py →
rows and sentences (result_rows.py, result_sentences.py). Result types are light to import. Modules that
compute load numpy and scipy, so `run_analysis` imports `run_within_tests` only when there is something to
compute.
"""
