"""The worlds: one folder each, named by one line of `kitchen.registry.world_registry`."""
