"""Run live play: episodes, turns, agents' decisions, and the websocket."""
