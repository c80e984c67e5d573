"""Game worlds: one folder per world, each registered by one line of `kitchen.registry.world_registry`."""
