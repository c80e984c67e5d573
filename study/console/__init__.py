"""The researcher's console: the list of studies, one study, its analysis and report."""
