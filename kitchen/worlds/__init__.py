"""Define the game worlds, one folder per world. `kitchen.registry.world_registry` registers each of them."""
