"""Hold the open turn of an episode: commands, timer, claims, messages, and their storage."""
