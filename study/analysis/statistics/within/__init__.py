"""The tests that the design asks for: every participant plays every condition.

The way of the data: a `MeasureTable` → `Cells`, the participants who have a value in every condition
(cells.py) → one module for each test → the results of results.py, all together in battery.py → rows of
files and sentences (lines.py, sentences.py). Modules with results are light; those that compute load numpy
and scipy, so `analyse` imports `battery` only when there is something to compute.
"""
