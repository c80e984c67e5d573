"""Experiments in which agents play alone, cell by cell, as in MindAgent (arXiv 2309.09971, section 5).

`experiment_setup` says what was requested and which episodes follow. `play_episodes` plays them,
`log_entries` and `log_files` record them, and `verify_replay` plays a log again. `episode_rows` has one row
per episode. From rows follow `experiment_results`, and from these tables and figures. `experiment_forecast`
predicts what model calls will cost.

These modules are plain Python. `models`, `experiment_services`, `database_logs`, `tasks`, `experiment_form`
and `admin` use the database. Published results and bounds belong to the world
(`kitchen.contract.benchmark`).
"""
