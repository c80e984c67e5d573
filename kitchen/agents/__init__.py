"""Agents of any world, and how they are tried out."""
