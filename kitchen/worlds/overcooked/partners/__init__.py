"""Agents of the Overcooked world: stay, random walk, script, greedy, and a planner. No Django.

The learned partners of the papers are not reproduced, because their checkpoints are not available.
"""
