"""Manage whole episodes: create, change, seal, verify, measure and monitor them."""
