"""Synthetic participants that take part in a study through its web pages and websockets, as people do.

These modules do not read the database; only `dry_run_execution` does.
"""
