"""Render the pages that participants open with their personal links."""
