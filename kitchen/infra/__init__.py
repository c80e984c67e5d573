"""Provide infrastructure: databases, processes, task queues, rate limits, metrics, files."""
