"""Provide agents that can play any world, and the loop that plays episodes without people.

Nothing here imports Django.
"""
