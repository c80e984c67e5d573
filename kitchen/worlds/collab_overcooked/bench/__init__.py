"""Benchmark agents in Collab-Overcooked without people, and compare with the published results."""
