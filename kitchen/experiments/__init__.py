"""Experiment I of MindAgent (arXiv 2309.09971, section 5): agents alone, cell by cell. Plain Python.

`setup` is what was asked for, `plan` the episodes that follow from it, `play` one of them, `rows` how they
are kept. From rows follow `results`, and from those `tables`, `figure` and `summary`. `bounds` says what no
cell can pass, `paper` what GPT-4 reached, `forecast` what a model's calls will cost, `optimum` (an optional
extra) what is possible at all in small cases. The database side is `kitchen.experiments.services`.
"""
