"""Co-players of the Overcooked grids: stay, random walk, script, greedy, and a planner. Plain Python.

The learned partners of the papers are checkpoints that cannot be had, and are not reproduced.
"""
