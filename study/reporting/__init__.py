"""The report of a study: one text of design, sample, results and deviations, as a page, HTML and PDF."""
