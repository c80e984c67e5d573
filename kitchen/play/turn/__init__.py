"""Read, cache, change and store an episode's open turn, which is the step that waits for commands.

A turn has commands, messages, a time limit, and claims. A claim says that a worker is asking an agent.
"""
