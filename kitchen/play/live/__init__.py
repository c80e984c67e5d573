"""Serve the play page, on which a person plays an episode, and its websocket."""
