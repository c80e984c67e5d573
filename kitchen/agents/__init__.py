"""Provide agents that play any world, and the loop that plays episodes without people."""
