"""Benchmarks of agents alone in Overcooked, with published results."""
