"""Live play: worlds, the agents in them, episodes, and the pages on which people play."""
