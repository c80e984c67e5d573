"""Live play: episodes, steps, commands, decisions, clock, pages and their websocket."""
