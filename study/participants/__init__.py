"""Participants, their rounds and answers, their next page, and how they leave."""
