"""Compare agents that play Collab-Overcooked without people with the published results."""
