"""Heartbeats of our processes, and the outages found from them."""
