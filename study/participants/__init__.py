"""Store participants, their rounds and answers. Find the page that they see next, and end their
participation."""
