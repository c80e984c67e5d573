"""Define agents of the Overcooked world: an agent that stays, a random walk, a script, a greedy agent, and a
planner. No Django.

The learned agents of the papers are missing, because their trained models are not available.
"""
