"""Serve main pages of the console (the staff's website): list of studies, one study, analysis, report."""
