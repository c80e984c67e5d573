"""Run the agents of an episode: their situations, decisions and answers."""
