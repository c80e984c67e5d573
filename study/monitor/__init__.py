"""Serve the pages on which staff watch a study live, replay its episodes, and act on its participants."""
