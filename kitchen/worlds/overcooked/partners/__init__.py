"""Agents of the Overcooked world: stay, random walk, script, greedy, and a planner. Plain Python.

The learned partners of the papers are checkpoints that are not available, and are not reproduced.
"""
