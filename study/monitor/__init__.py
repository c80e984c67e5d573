"""Watching a study live, and what staff do to a participant."""
