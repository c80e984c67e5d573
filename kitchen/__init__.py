"""Run live play: game worlds, agents that play in them, episodes, and the pages on which people play."""
