"""Participants' pages and what they set off: entering, going on, answering, being away."""
