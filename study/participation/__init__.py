"""Participants' pages and their services: enter, continue, answer, wait."""
