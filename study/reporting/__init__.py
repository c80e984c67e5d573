"""Report a study as a page, HTML and PDF: design, sample, results and deviations."""
