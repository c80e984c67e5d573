"""Participants, their rounds and answers, their current page, and how they leave a study."""
