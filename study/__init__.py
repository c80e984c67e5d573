"""The experiment around the play: designs, participants, data, analysis."""
