"""The game worlds, one folder per world. Each world is registered by one line of
`kitchen.registry.world_registry`.
"""
