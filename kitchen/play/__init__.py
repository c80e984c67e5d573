"""Live play: episodes, turns, agents' decisions, and the websocket."""
