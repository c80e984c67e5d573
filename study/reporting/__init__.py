"""Report a study as a web page, HTML file or PDF: design, sample, results, and deviations from the plan."""
