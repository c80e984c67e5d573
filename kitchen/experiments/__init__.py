"""Run experiments in which agents play without people, as in MindAgent (arXiv 2309.09971, section 5).

- `experiment_setup` describes an experiment and lists its episodes, and `setup_checks` checks it.
- `play_episodes` plays the episodes. `log_entries` and `log_files` record them.
- `batched_episode` plays an episode whose model calls are answered in batches.
- `verify_replay` plays recorded episodes again and compares.
- `episode_rows` defines the result row of an episode, and `experiment_results` aggregates the rows.
- `result_tables` and `result_figures` show the results.
- `experiment_forecast` predicts time and costs.

The modules above do not import Django. These use the database: `models`, `experiment_services`,
`batch_rounds`, `batch_desk`, `database_logs`, `tasks`, `experiment_form` and `admin`.
"""
