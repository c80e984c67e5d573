"""Run the agents of an episode: build their situations, ask them, and submit decisions and answers."""
