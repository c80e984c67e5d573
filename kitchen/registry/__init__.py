"""Registries: worlds, agents and metrics by name."""
