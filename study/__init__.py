"""Run studies in which people play with agents: their design, participants, data and analysis."""
