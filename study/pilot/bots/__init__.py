"""Synthetic participants that take part in a study through its web pages and websockets, as people do.

They do not read the database; only `study.pilot.dry_run_execution` does.
"""
