"""Compute the sample size and power of a within-subject study. The package does not import Django."""
