"""Run live play: store episodes, run steps, ask agents for commands, and serve the play page."""
