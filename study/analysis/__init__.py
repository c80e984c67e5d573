"""Select the participants and measures of an analysis, and cache its results."""
