"""Who takes part: participants, their rounds and answers, where they are, leaving."""
