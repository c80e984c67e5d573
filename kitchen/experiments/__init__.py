"""Experiment I of MindAgent (arXiv 2309.09971, section 5): agents alone, cell by cell.

`setup` is what was asked for, `plan` the episodes that follow from it, `play` one of them, `log` all that
happened in it, `replay` the same again for nothing, `audit` its tables, `rows` what it came to. From rows
follow `results`, and from those `tables`, `figure` and `summary`; `forecast` says what a model's calls will
cost. All these are plain Python; `models`, `services`, `stored_logs`, `tasks` and `admin` are the database's
side. What others reached and what no cell can pass is the world's: its `Bench`
(`kitchen.contract.bench`).
"""
