"""Read, cache, change and store the open turn of an episode, with its commands, messages, time limit and
claims.
"""
