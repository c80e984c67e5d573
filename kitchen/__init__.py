"""Run live play: worlds, the agents that play in them, episodes, and the pages on which people play."""
