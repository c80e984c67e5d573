"""Read, cache, change and store the open turn of an episode: its commands, messages, time limit, and the
workers' claims on decisions.
"""
