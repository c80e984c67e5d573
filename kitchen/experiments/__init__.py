"""Run experiments in which agents play without people, as in MindAgent (arXiv 2309.09971, section 5).

`experiment_setup` describes an experiment and lists its episodes; `setup_checks` checks it. `play_episodes`
plays the episodes, `log_entries` and `log_files` record them, and `verify_replay` plays a log again.
`episode_rows` has one row per episode. `experiment_results` aggregates the rows; `result_tables` and
`result_figures` show the results. `experiment_forecast` predicts costs.

The modules above use no Django. `models`, `experiment_services`, `database_logs`, `tasks`, `experiment_form`
and `admin` use the database.
"""
