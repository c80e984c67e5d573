"""Serve the researcher's console: the list of studies, the overview of one study, its analysis and its
report."""
