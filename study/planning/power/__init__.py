"""Compute sample size and power of a within-subject study. Plain Python: numpy and statsmodels, no Django."""
