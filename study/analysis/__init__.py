"""Analyse a study: select its participants and measures, compute the statistics, and cache the results."""
