"""Experiments of agents alone in Collab-Overcooked, and the published results."""
