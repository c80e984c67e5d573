"""Serve the play page and its websocket."""
