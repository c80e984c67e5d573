"""Studies with people: design, participants, data and analysis."""
