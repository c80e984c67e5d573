"""Run studies with people: their design, participants, data and analysis."""
