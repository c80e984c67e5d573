"""Define the game worlds, one folder per world. One line of `kitchen.registry.world_registry` registers each
world."""
