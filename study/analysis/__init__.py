"""Whose data are analysed, which measures, and the stored results."""
