"""Render the pages that a participant opens with their personal link."""
