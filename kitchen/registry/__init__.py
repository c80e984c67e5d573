"""Find worlds, agents and metrics by their registered names."""
