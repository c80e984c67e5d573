"""Agents that play any world, and the loop in which agents play alone."""
