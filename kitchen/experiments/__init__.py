"""Run experiments in which agents play without people, cell by cell, as in MindAgent (arXiv 2309.09971,
section 5).

`experiment_setup` describes what was requested and which episodes follow. `play_episodes` plays them,
`log_entries` and `log_files` record them, and `verify_replay` plays a log again. `episode_rows` holds one row
per episode. `experiment_results` aggregates the rows; `result_tables` and `result_figures` show the results.
`experiment_forecast` predicts what model calls will cost.

These modules are plain Python. `models`, `experiment_services`, `database_logs`, `tasks`, `experiment_form`
and `admin` use the database. Published results and upper bounds belong to the world
(`kitchen.contract.benchmark`).
"""
