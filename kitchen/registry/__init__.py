"""Find worlds, agents and metrics by name."""
