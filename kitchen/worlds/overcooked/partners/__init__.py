"""Agents of the Overcooked world: stay, random walk, script, greedy, and a planner. Plain Python.

The learned partners of the papers are not reproduced, because their checkpoints are not available.
"""
