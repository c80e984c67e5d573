"""Select the participants and measures of a study's analysis, compute it, and cache its results."""
