"""Compute the sample size and power of a within-subject study. No Django."""
