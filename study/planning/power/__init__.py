"""Compute sample size and power of a within-subject study. The package uses numpy and statsmodels, but not
Django.
"""
