"""Define agents for the Overcooked world: staying, random, scripted, greedy, and planning agents.

The papers' learned agents are missing, because their trained models are not available.
"""
