"""Participants' pages and their services: enter a study, go from page to page, answer, wait."""
