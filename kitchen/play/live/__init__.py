"""The play page and its websocket."""
