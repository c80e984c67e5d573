"""Manage whole episodes: create, change, seal (sign), verify, measure and monitor them."""
