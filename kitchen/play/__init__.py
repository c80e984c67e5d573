"""Run live play: store episodes, run their steps, ask agents for commands, and serve the play page over
websockets.
"""
