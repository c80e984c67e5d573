"""Participants, their rounds and answers, the page they see next, and how they leave a study."""
