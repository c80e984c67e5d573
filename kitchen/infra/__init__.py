"""Provide infrastructure: database access, processes, task queues, rate limits, metrics and files."""
