"""Serve participants' pages: enter a study, move from page to page, answer questions, and wait for others."""
